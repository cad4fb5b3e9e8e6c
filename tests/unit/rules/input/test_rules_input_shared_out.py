"""INP005: which of several parallel maps sets the pace, and the garbage that a pipeline's Python makes."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_steps
from input_builder import BATCH, PREFETCH, codes, evidence, mapped, one, pipeline, ranged, stage
from tfperfkit_rules.input import python_batches

from tfperfkit.model import SourceSpan
from tfperfkit.offers import GarbageCollections, MappedFunction, MappedFunctions

CLEAN, IDS = SourceSpan(FILE, 2, "clean"), SourceSpan(FILE, 12, "to_ids")
LOWER = mapped("ParallelMap", own_ms=None, mapped=CLEAN, is_python=True, elements=1.0)
UPPER = mapped("ParallelMap", own_ms=None, mapped=IDS, elements=1.0)
LINES = stage("TextLine", 4, self_ms_per_output=0.2, elements=256.0)


def two_maps(clean_ms: float, ids_ms: float) -> Any:
    """Trace without steps: that times no stage that runs in parallel, but has the calls of the stages' functions."""
    rows = [MappedFunction(file=FILE, line=at.line, ms=ms) for at, ms in ((CLEAN, clean_ms), (IDS, ids_ms)) if ms]
    made = pipeline(PREFETCH, UPPER, BATCH, LOWER, LINES, measured="trace", outputs_per_step=None)
    return evidence(made, offers={"lines": [MappedFunctions(functions=tuple(rows))]})


def test_of_two_parallel_maps_the_one_whose_function_takes_nearly_all_sets_the_pace() -> None:
    finding = one(python_batches.python_input(two_maps(4000.0, 11.0)))
    assert finding.code == "INP005" and CLEAN in finding.where


@pytest.mark.parametrize(("clean_ms", "ids_ms"), [(11.0, 4000.0), (500.0, 400.0), (4000.0, 0.0)])
def test_the_other_one_both_or_one_that_was_not_seen_is_no_python_that_sets_the_pace(
    clean_ms: float, ids_ms: float
) -> None:
    assert "INP005" not in codes(two_maps(clean_ms, ids_ms))


def lists(*, thread: int, garbage_ms: float = 5.0) -> Any:
    """Return a generator on thread 7, for which the step waits 2 of 10 ms, and collections on a thread."""
    generator = stage("Generator", 11, is_python=True, self_ms_per_output=9.0, mapped=SourceSpan(FILE, 3, "rows"))
    made = pipeline(PREFETCH, generator, bound_by=1, bound_ms_per_output=9.0)
    steps = make_steps(12, each_ms=10.0)
    spans = tuple((step.begin_ns, step.begin_ns + round(garbage_ms * MS)) for step in steps.clean)
    offer = GarbageCollections(spans=spans, threads=(thread,) * len(spans))
    rows = [["stack", 1, [[FILE, 3, "rows", 4]], "", "python"], ["called", 5, 1, 7]]
    parts = {"input": 2.0, "gc": garbage_ms, "graph": 8.0 - garbage_ms}
    return evidence(made, steps=steps, parts_ms=parts, offers={"memory": [offer]}, records={"samples": rows})


def test_collections_of_what_the_generator_makes_go_with_it() -> None:
    finding = one(python_batches.python_input(lists(thread=7)))
    assert finding.share_of_step == pytest.approx(0.7) and "gc" in finding.parts
    assert "garbage collections" in finding.detail
    assert not one(python_batches.python_input(lists(thread=0))).parts  # an older run
    other = one(python_batches.python_input(lists(thread=8)))  # the script's own, whatever it makes
    assert other.share_of_step == pytest.approx(0.2) and not other.parts and "garbage" not in other.detail
    assert ranged(finding)[0] > ranged(other)[0] and ranged(finding)[1] > ranged(other)[1]
