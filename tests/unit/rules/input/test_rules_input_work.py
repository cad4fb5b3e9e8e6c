"""The rules of family input in loops that train nothing, on made-up evidence."""

from __future__ import annotations

from typing import Any

import msgspec
from evidence_builder import FILE, MS, make_samples, make_steps
from input_builder import BATCH, codes, evidence, mapped, one, pipeline, ranged, stage
from tfperfkit_rules.input import reloading, sequential_stages, waiting

from tfperfkit.model import SourceSpan, Work
from tfperfkit.records.samples import Frame, SampleLog, Stack

SOURCE = "\n".join(
    [*(f"x{n} = {n}" for n in range(1, 30)), "for batch in data:", "    use(batch)", *(f"y{n} = 1" for n in range(9))]
)


def of_work(*pipelines: Any, kind: Any = "loop", line: int = 30, iterations: int | None = 60, **fields: Any) -> Any:
    given = evidence(*pipelines, source=SOURCE, inputs={"loaders": ()}, **fields)
    given.work = Work(kind=kind, where=SourceSpan(FILE, line), seconds=3.0, share_of_run=0.5, iterations=iterations)
    return given


def unmeasured(**fields: Any) -> Any:
    """A pipeline of which only the description is known."""
    slow = mapped(own_ms=None, ops=400)
    plain = {"iterators_per_step": None, "outputs_per_step": None, "measured": "", "way": "", "line": 30}
    return pipeline(BATCH, slow, stage("Range"), **{**plain, **fields})


def test_a_sequential_map_is_found_by_the_pipelines_description() -> None:
    finding = one(sequential_stages.sequential(of_work(unmeasured())))
    assert finding.code == "INP003" and finding.where[0].line == 7
    low, high = ranged(finding)
    assert 1.0 < low < high < 2.6
    assert "INP001" in finding.absorbs


def test_two_functions_that_compute_can_not_be_told_apart() -> None:
    two = unmeasured()
    two = msgspec.structs.replace(two, stages=(two.stages[0], mapped(own_ms=None, ops=300), *two.stages[1:]))
    assert not list(sequential_stages.sequential(of_work(two)))
    assert one(waiting.waits(of_work(two))).code == "INP001"


def test_the_training_pipeline_is_none_of_the_works() -> None:
    training = pipeline(BATCH, mapped(), line=20)
    assert "INP003" not in codes(of_work(training, unmeasured(role="other", line=35)))
    assert "INP003" in codes(of_work(training, unmeasured(role="other", in_training=False)))


def test_a_call_takes_the_pipeline_of_its_line() -> None:
    assert "INP003" in codes(of_work(unmeasured(line=32), kind="call", line=32, iterations=None))
    assert "INP003" not in codes(of_work(pipeline(BATCH), unmeasured(line=33), kind="call", line=32, iterations=None))


def reading(*rows: Any, iterations: int | None = None) -> Any:
    """A loop at line 30 whose line 31 reads; ``rows`` of the stream ``opens``."""
    frame = (Frame(FILE, 1, "<module>", 31),)
    table = make_steps(1 if iterations is None else iterations, 600.0, warm=0, source="work")
    end = table.steps[-1].end_ns
    samples = make_samples([(80, "python", frame), (20, "graph", [Frame(FILE, 1, "<module>", 30)])])
    log = SampleLog({1: Stack(frame, "numpy", "python")}, [(n * end // 100, 1) for n in range(101)])
    given = of_work(
        parts_ms={"python": 480.0, "graph": 120.0},
        account=None,
        steps=table,
        samples=samples,
        log=log,
        records={"opens": list(rows)},
        iterations=iterations,
    )
    return given


def opened(path: str, count: int, *, at_ms: int = 10) -> Any:
    return [path, [[FILE, 31, "<module>"]], count, at_ms * MS, 500 * MS, 1_000_000]


def test_a_file_that_is_read_again_in_a_loop_is_told_with_how_often() -> None:
    finding = one(reloading.reloads(reading(opened("/data/table.npy", 40))))
    assert finding.code == "INP002" and finding.where[0].line == 31
    assert finding.title == "table.npy is loaded 40 times in the loop at train.py:30"
    assert "the training loop" not in finding.advice


def test_files_that_are_read_once_each_are_the_work_itself() -> None:
    rows = [opened(f"/data/{n}.npy", 1) for n in range(40)]
    assert not list(reloading.reloads(reading(*rows)))
    assert not list(reloading.reloads(reading(opened("/data/table.npy", 2))))
