"""GRF008: copies of a loop's body that do not need each other; silent on recurrences, layers and small loops."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from computed_builder import compiled, ran
from tfperfkit_probes.ops.model import Control, Marks, OpsData
from tfperfkit_rules.graph.apart_iterations import apart_iterations
from tfprof_builder import brief

from tfperfkit.model import SourceSpan
from tfperfkit.offers import CompiledFunction, CompiledFunctions, CompiledLine, FunctionCalls

SCRIPT = "def call(x):\n    out = []\n    for i in range(40):\n        out.append(f(x[:, i]))\n    return out\n"


def step(
    loop_ms: float = 2.0, called: bool = True, more: tuple[Any, ...] = (), traced_ms: float = 10.0, **loop: Any
) -> Any:
    given = {"line": 3, "last": 4, "statement": "for", "function": "call", "became": "unrolled"}
    given |= {"copies": 40, "ops": 360, "apart": True, **loop}
    known = brief(
        graph="__inference_step_1",
        operations=500,
        trace_ms=traced_ms,
        marks=Marks(unrolled=[Control(file="train.py", **given)]),
    )
    lines = (
        CompiledLine(parent=-1, name="fit", file="train.py", line=9, ms=loop_ms + 1),
        CompiledLine(parent=0, name="call", file="train.py", line=4, ms=loop_ms),
        CompiledLine(parent=1, name="f", file="train.py", line=4, ms=loop_ms),
    )
    function = CompiledFunction(function="step", file="train.py", line=1, ms=loop_ms + 1, rest_ms=0, lines=lines)
    offers = (
        FunctionCalls(per_step={"__inference_step_1": 1.0} if called else {}),
        OpsData(functions=[], all=(known,)),
        CompiledFunctions(functions=(function,)),
    )
    operations = (ran("MatMul", loop_ms / 2, runs=40.0), ran("Relu", loop_ms / 2, runs=300.0), ran("Add", 1.0))
    return compiled((*operations, *more), source=SCRIPT, more=offers, idle_ms=1.0)


def test_copies_that_do_not_need_each_other_are_told_at_the_loop() -> None:
    (finding,) = apart_iterations(step())
    assert finding.code == "GRF008" and finding.where[0] == SourceSpan("train.py", 3, "call")
    assert "40 independent iterations" in finding.title and finding.absorbs_here == ("OPS001",)
    # 2 of 5 ms are in its lines, and 360 of 500 operations have as much of the gaps.
    assert finding.share_of_step == pytest.approx((2.0 + 0.72) / 5.04, abs=0.01)
    assert finding.gain.bounds is not None or finding.gain.low is not None


@pytest.mark.parametrize(
    "loop",
    [{"apart": False}, {"per_variable": True}, {"copies": 6}, {"loop_ms": 0.02, "ops": 9}, {"called": False}],
    ids=["a recurrence", "layers", "a few", "small", "not in the step"],
)
def test_others_are_left_in_peace(loop: dict[str, Any]) -> None:
    assert not list(apart_iterations(step(**loop)))


def test_gradients_of_parts_that_are_as_large_as_all_go_with_the_loop() -> None:
    """Forty slices of one axis: the gradient of each writes a tensor of all of them."""
    at = {"file": "train.py", "line": 4}
    slices = msgspec.structs.replace(ran("StridedSliceGrad", 5.0, "backward", runs=40.0), **at)
    product = msgspec.structs.replace(ran("MatMul", 5.0, "backward", runs=40.0), **at)
    bounds = [next(iter(apart_iterations(step(loop_ms=8.0, more=(row,))))) for row in (slices, product)]
    lower = [each.gain.low or (each.gain.bounds or (1.0, 1.0))[0] for each in bounds]
    assert lower[0] > 1.4 > lower[1]


def test_tracing_that_is_more_of_the_run_stands_for_itself() -> None:
    wall_ms = 1e3 * step().run.wall_s
    (finding,) = apart_iterations(step(traced_ms=0.8 * wall_ms))
    assert "OPS001" not in finding.absorbs_here
