"""INP014: what prepares the batches opens the same file again."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE, MS
from input_builder import PREFETCH, codes, evidence, one, pipeline, ranged, stage
from tfperfkit_probes.input.model import KerasInput, Loader
from tfperfkit_rules.input.opened_again import opened_again

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

SOURCE = """import numpy as np
def load(path):
    with np.load(path) as archive:
        return archive["x"]
def rows(path):
    for number in range(1000):
        x = load(path)
        yield x[number]
def stream(path):
    file = open(path)
    header = file.readline()
    for line in file:
        values = np.fromstring(line)
        yield values
dataset = from_generator(rows)
"""
ROWS = (("rows", 5, 7), ("load", 2, 4))


def looked(*rows: tuple[int, tuple[tuple[str, int, int], ...], str]) -> list[Any]:
    """The stream of samples: so many of each (function, its first line, line), outermost first, below a library."""
    made: list[Any] = []
    for number, (count, frames, library) in enumerate(rows, 1):
        made.append(["stack", number, [[FILE, first, name, line] for name, first, line in frames], library, "python"])
        made += [["beside", (index + 1) * MS, number, 7] for index in range(count)]
    return made


LOADS = looked((90, ROWS, "numpy"), (10, (("rows", 5, 8),), ""))
CHAIN = (SourceSpan(FILE, 3, "load"), SourceSpan(FILE, 7, "rows"))


def loader(**fields: Any) -> Loader:
    given = {
        "path": "/data/x.npz",
        "paths": 1,
        "chain": CHAIN,
        "loader": CHAIN[-1],
        "opens": 600,
        "opens_per_step": 10.0,
        "bytes_per_step": 1e7,
        "share_of_step": 0.0,
        "ms_per_step": 0.0,
        **fields,
    }
    return Loader(**given)


def made(*loaders: Loader, samples: list[Any] = LOADS, own_ms: float = 9.0, **fields: Any) -> Evidence:
    generator = stage(
        "Generator", 15, is_python=True, self_ms_per_output=own_ms, mapped=SourceSpan(FILE, 5, "rows"), by="user"
    )
    fed = pipeline(PREFETCH, generator, bound_by=1, bound_ms_per_output=own_ms, **fields.pop("fed", {}))
    inputs = {"loaders": loaders or (loader(),), **fields.pop("inputs", {})}
    return evidence(fed, inputs=inputs, **{"source": SOURCE, "records": {"samples": samples}, **fields})


def test_a_generator_that_loads_for_each_element() -> None:
    finding = one(opened_again(made()))
    assert finding.code == "INP014" and finding.title == "x.npz is reopened 10 times for every batch by a generator"
    assert [place.line for place in finding.where][:2] == [7, 3]  # the call that does nothing but load, then the open
    assert {"INP005", "STP017"} <= set(finding.absorbs) and "before rows begins" in finding.advice
    low, high = ranged(finding)
    assert 1 < low < 2.5 and high <= 10
    assert "INP014" in codes(made())


def test_a_pydataset_loads_in_its_init() -> None:
    source = KerasInput(
        kind="PyDataset", way="fit", validation=False, file=FILE, line=15, function="", cls="Rows", pipeline=0
    )
    given = made(loader(opens_per_step=1.0), inputs={"keras": (source,)})
    finding = one(opened_again(given))
    assert finding.title == "x.npz is reopened for every batch by PyDataset Rows" and "Rows.__init__" in finding.advice


@pytest.mark.parametrize(("call", "told"), [("pickle.load(file)", True), ("work(file)", False)])
def test_what_reads_in_c_has_no_frames(call: str, told: bool) -> None:
    source = (
        f"import pickle\ndef load(path):\n    with open(path, 'rb') as file:\n        x = {call}\n    return x[0]\n"
    )
    inside = looked((90, (("load", 2, 4),), ""), (10, (("load", 2, 3),), ""))
    opened = loader(chain=(SourceSpan(FILE, 3, "load"),), loader=SourceSpan(FILE, 3, "load"))
    assert bool(list(opened_again(made(opened, samples=inside, source=source)))) == told


def test_what_is_loaded_is_collected_no_more() -> None:
    plain = made(parts_ms={"input": 6.0, "graph": 4.0})
    collecting = made(parts_ms={"input": 6.0, "graph": 1.0, "gc": 3.0})
    assert ranged(one(opened_again(collecting)))[1] > ranged(one(opened_again(plain)))[1]


def test_loading_that_takes_little_of_the_python_is_another_matter() -> None:
    assert not list(opened_again(made(samples=looked((10, ROWS, "numpy"), (90, (("rows", 5, 8),), "")))))
    half = looked((40, ROWS, "numpy"), (60, (("rows", 5, 8),), ""))
    assert "INP005" not in one(opened_again(made(samples=half))).absorbs
    assert not list(opened_again(made(samples=looked((5, ROWS, "numpy")))))  # too few to tell


def test_a_file_that_each_pass_reads_line_by_line_is_not_loaded_again() -> None:
    chain = (SourceSpan(FILE, 10, "stream"),)
    reading = looked((95, (("stream", 9, 13),), "numpy"), (5, (("stream", 9, 11),), "python"))
    given = loader(chain=chain, loader=chain[0], opens=6, opens_per_step=0.1)
    assert not list(opened_again(made(given, samples=reading)))
    loading = looked((95, (("stream", 9, 11),), "python"), (5, (("stream", 9, 13),), "numpy"))
    assert one(opened_again(made(given, samples=loading))).title == "x.npz is reopened 6 times by a generator"


@pytest.mark.parametrize(("opens", "told"), [(1200, False), (4000, True)])
def test_many_files_may_each_be_read_once_in_a_pass(opens: int, told: bool) -> None:
    found = list(opened_again(made(loader(paths=400, opens=opens), fed={"iterators": 3})))
    assert bool(found) == told
    if told:
        assert found[0].title.startswith("Files like x.npz are reopened") and "lru_cache" in found[0].advice


def test_who_keeps_up_or_opens_a_file_twice_is_left_in_peace() -> None:
    assert not list(opened_again(made(parts_ms={"graph": 10.0})))
    assert not list(opened_again(made(loader(opens=2))))
    given = made()
    given.run = msgspec.structs.replace(given.run, directory="/data")
    assert not list(opened_again(given))
