"""The rules about work of the step's own Python that need not be repeated: files loaded again, equal values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from evidence_builder import FILE, MS, make_evidence
from input_builder import FETCH, LOOP, SOURCE, evidence, one, ranged, sampled
from tfperfkit_probes.input.model import ConstantFunction, Loader
from tfperfkit_rules.input import reloading

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import SampleLog, Stack
from tfperfkit.rule import Evidence


def loader(**fields: Any) -> Loader:
    chain = (SourceSpan(FILE, 12, "fetch"), SourceSpan(FILE, 30, "<module>"))
    given = {
        "path": "data/x.npz",
        "paths": 1,
        "chain": chain,
        "loader": chain[1],
        "opens": 60,
        "opens_per_step": 1.0,
        "bytes_per_step": 1e6,
        "share_of_step": 0.8,
        "ms_per_step": 8.0,
        **fields,
    }
    return Loader(**given)


PYTHON = {"python": 8.0, "graph": 2.0}


def loads(*loaders: Loader, constants: Sequence[ConstantFunction] = (), **fields: Any) -> Evidence:
    inputs = {"loaders": loaders, "constant_functions": tuple(constants), "watched": (2, 3)}
    return evidence(inputs=inputs, **{"parts_ms": PYTHON, "samples": sampled(), **fields})


def constant(name: str = "fetch", line: int = 10) -> ConstantFunction:
    return ConstantFunction(
        file=FILE,
        line=line,
        function=name,
        calls=2,
        steps=2,
        calls_per_step=1.0,
        returns="float32[60000,28,28,1]",
        size=188_000_000,
        share_of_step=0.8,
    )


def test_a_function_that_also_picks_is_reported_at_the_line_that_loads() -> None:
    finding = one(reloading.reloads(loads(loader())))
    assert finding.code == "INP002" and [place.line for place in finding.where] == [12, 30]
    assert finding.share_of_step == pytest.approx(0.6)  # 60 of the 80 samples of Python, which is 0.8 of the step
    assert ranged(finding)[0] < 2.5 < ranged(finding)[1]


def test_a_function_that_does_nothing_but_load_is_reported_at_its_call() -> None:
    finding = one(reloading.reloads(loads(loader(), constants=[constant()])))
    assert [place.line for place in finding.where][:2] == [30, 12]
    assert finding.share_of_step == pytest.approx(0.8) and "INP011" in finding.absorbs
    assert 'move "line 30" out of the step' in finding.advice


def test_freeing_what_was_loaded_counts_at_most() -> None:
    plain = ranged(one(reloading.reloads(loads(loader()))))
    freeing = ranged(one(reloading.reloads(loads(loader(), parts_ms={"python": 8.0, "graph": 1.0, "other": 1.0}))))
    assert plain[0] == freeing[0] and plain[1] < freeing[1]


def test_shares_follow_the_account_not_the_samples_alone() -> None:
    """Compiled functions are sampled more often than Python that holds the lock."""
    finding = one(reloading.reloads(loads(loader(), samples=sampled(loading=45, picking=0, computing=55))))
    assert finding.share_of_step == pytest.approx(0.8)


def test_the_account_counts_for_twice_the_samples_at_most_and_the_range_goes_on() -> None:
    finding = one(reloading.reloads(loads(loader(), samples=sampled(loading=30, picking=0, computing=70))))
    assert finding.share_of_step == pytest.approx(0.6)
    assert finding.gain.bounds is not None and finding.gain.bounds[1] > 1 / (1 - 0.8)


def test_a_file_opened_now_and_then_or_at_no_cost_is_no_loader() -> None:
    assert not list(reloading.reloads(loads(loader(opens_per_step=0.1))))
    assert not list(reloading.reloads(loads(loader(), samples=sampled(loading=0))))


def test_without_the_probe_input_the_session_s_own_records_tell() -> None:
    chain = [[FILE, 12, "fetch"], [FILE, 30, "<module>"]]
    opens = ["data/x.npz", chain, 60, 0, 590 * MS, 1000]
    given = make_evidence(parts_ms=PYTHON, samples=sampled(), source=SOURCE, records={"opens": [opens]})
    whole = one(reloading.reloads(given))
    # Nobody watched what it returns: the call as a whole, which may pick the batch too.
    assert (whole.where[0].file, whole.where[0].line) == (FILE, 30)
    assert '"line 30"' not in whole.advice and "the call at train.py:30 should only pick its batch" in whole.advice
    seldom = ["data/x.npz", chain, 6, 0, 590 * MS, 1000]
    rare = make_evidence(parts_ms=PYTHON, samples=sampled(), source=SOURCE, records={"opens": [seldom]})
    assert not list(reloading.reloads(rare))


def test_what_the_tool_itself_reads_is_not_the_script_s() -> None:
    given = loads(loader(path="/runs/one/probes/input/model.pb"))
    given.run = msgspec.structs.replace(given.run, directory="/runs/one")
    assert not list(reloading.reloads(given))


def test_a_constant_function_is_named_where_it_is_called() -> None:
    log = SampleLog({1: Stack((LOOP, FETCH), "numpy", "python")}, [(5 * MS * 10, 1)])
    finding = one(reloading.constant_values(loads(constants=[constant()], log=log)))
    assert finding.code == "INP011" and [place.line for place in finding.where][:2] == [30, 10]
    assert finding.share_of_step == pytest.approx(0.8) and '"line 30"' in finding.advice
    assert not list(reloading.constant_values(loads()))
