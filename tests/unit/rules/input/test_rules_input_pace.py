"""Which stage sets the pace of a pipeline, where the trace alone tells."""

from __future__ import annotations

import msgspec
from evidence_builder import make_account
from input_builder import BATCH, PREFETCH, evidence, mapped, pipeline
from tfperfkit_rules.input import feed

from tfperfkit.records.parts import PartName


def test_a_map_that_tensorflow_runs_in_parallel_only_waits_in_the_trace() -> None:
    """What it waits for its threads is no work of its own: that is below it."""
    waits = mapped(own_ms=0.4, trace_self_ms_per_step=9.0, autotuned=True, parallelism=2.0)
    slow = mapped("FlatMap", own_ms=0.2, trace_self_ms_per_step=7.0, stateful_or_random=True)
    slow = msgspec.structs.replace(slow, line=9)
    made = pipeline(PREFETCH, waits, BATCH, slow, bound_by=1, bound_ms_per_output=0.7)
    found = feed.feed(evidence(made))
    assert found is not None and found.lost and found.bound == slow and found.part(slow) == 1.0


def test_calls_in_parallel_without_free_processors_are_no_lost_times() -> None:
    """Each takes its turn: together they take what the step waits for, and the map is what sets the pace."""
    above = mapped("Shuffle", own_ms=0.2, trace_self_ms_per_step=7.0)
    slow = mapped("ParallelMap", own_ms=8.0, trace_self_ms_per_step=7.0, parallelism=2.0)
    made = pipeline(PREFETCH, BATCH, above, slow, bound_by=3, bound_ms_per_output=4.0)
    found = feed.feed(evidence(made))
    assert found is not None and not found.lost and found.bound == slow
    assert feed.feed(evidence(made, parts_ms={"input": 1.5, "graph": 8.5})) is None


def test_a_pipeline_keeps_up_with_the_ordinary_step_not_with_one_that_others_held_up() -> None:
    slow = mapped("ParallelMap", own_ms=4.0, parallelism=1.0)
    made = pipeline(PREFETCH, BATCH, slow, bound_by=2, bound_ms_per_output=4.0)
    parts: dict[PartName, float] = {"input": 1.0, "graph": 9.0}
    held = make_account(parts)
    assert feed.feed(evidence(made, account=held)) is None
    mostly = msgspec.structs.replace(held, ordinary_ms=4.2)
    found = feed.feed(evidence(made, account=mostly))
    assert found is not None and found.bound == slow
