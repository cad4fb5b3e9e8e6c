"""Which stage sets the pace of a pipeline, where the trace alone tells."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE, make_account
from input_builder import BATCH, PREFETCH, evidence, mapped, one, pipeline, ranged, stage
from tfperfkit_probes.input.model import Pipeline
from tfperfkit_rules.input import python_batches
from tfperfkit_rules.measures import feed

from tfperfkit.model import SourceSpan
from tfperfkit.offers import RanOperation, RanOperations
from tfperfkit.records.parts import PartName
from tfperfkit.rule import Evidence


def test_a_map_that_tensorflow_runs_in_parallel_only_waits_in_the_trace() -> None:
    """Waiting for its threads is no work of its own: that is below it."""
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


AUGMENTED = pipeline(
    PREFETCH, BATCH, stage("Generator", 11, is_python=True, self_ms_per_output=8.0, mapped=SourceSpan(FILE, 3, "rows"))
)
CONVOLVED = {"input": 0.2, "graph": 9.8}


def convolved(
    made: Pipeline, *, kind: str = "_MklNativeFusedConv2D", cpus: int = 2, line: str = "x = np.roll(x, 1)"
) -> Evidence:
    """Steps of 10 ms that hardly wait, almost all of each in one kind of compiled operation. A thread of TensorFlow's
    was seen at a line of the generator."""
    source = f"import time\nimport numpy as np\ndef rows():\n    {line}\n    yield x\n"
    frame = [FILE, 3, "rows", 4, [4, 4, 4, 4 + len(line)], []]
    samples: list[Any] = [["rate", 0, 10_000_000], ["stack", 1, [frame], "", "python"]]
    samples += [["called", 10_000_000 * number, 1, 7] for number in range(1, 60)]
    row = RanOperation(name="a", type=kind, count=10, self_ms=90.0, where="graph")
    seen: dict[str, Any] = {"source": source, "records": {"samples": samples}}
    traced = RanOperations(steps=10, rows=(row,), rest_ms=2.0)
    return evidence(made, parts_ms=CONVOLVED, offers={"tfprof": (traced,)}, machine={"cpus": cpus}, **seen)


def test_python_that_takes_a_core_from_convolutions_is_named_though_nothing_waits_for_input() -> None:
    found = one(python_batches.python_beside(convolved(AUGMENTED)))
    assert (found.code, found.where[0].line) == ("INP005", 4) and found.share_of_step == pytest.approx(0.4)
    low, high = ranged(found)  # 8 of 10 ms on one of two cores
    assert high == pytest.approx(1 / 0.6) and 1.1 < low < 1.25


def test_a_core_that_the_step_can_do_without_is_not_missed() -> None:
    assert not list(python_batches.python_beside(convolved(AUGMENTED, kind="GatherV2")))
    assert not list(python_batches.python_beside(convolved(AUGMENTED, cpus=32)))
    assert not list(python_batches.python_beside(convolved(AUGMENTED, line="time.sleep(0.03)")))  # it needs none
    quick = msgspec.structs.replace(AUGMENTED.stages[2], self_ms_per_output=0.5)
    assert not list(python_batches.python_beside(convolved(pipeline(PREFETCH, BATCH, quick))))


def test_python_that_works_next_to_the_step_holds_it_up_no_more_once_it_is_shorter() -> None:
    bound = {"bound_by": 2, "bound_ms_per_output": 8.0}
    made = pipeline(*AUGMENTED.stages, **bound)
    found = one(python_batches.python_input(evidence(made, parts_ms={"input": 4.0, "graph": 6.0})))
    assert ranged(found)[0] == pytest.approx(10 / 6)
