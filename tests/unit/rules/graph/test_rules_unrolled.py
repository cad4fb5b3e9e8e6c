"""GRF023 of a Python loop whose turns compute the same, on made evidence."""

from __future__ import annotations

from typing import Any

import msgspec
from computed_builder import compiled, ran
from evidence_builder import FILE
from graph_causes import offer_causes
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_rules.graph.same_in_unrolled import RepeatedProducts, SameInUnrolled
from tfprof_builder import brief

from tfperfkit.model import SourceSpan
from tfperfkit.offers import FunctionCalls


def found(runs: int) -> list[Any]:
    """``runs`` of 20 products are in the trace."""
    names = [f"keys_{number}/MatMul" for number in range(20)]
    cause = RepeatedProducts(where=SourceSpan(FILE, 15), operations=names, left=0.05, times=20, products=20)
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    rows = [msgspec.structs.replace(ran("MatMul", 6.0 / runs), of=name) for name in names[:runs]]
    more = (
        FunctionCalls(per_step={"__inference_step_1": 1.0}),
        OpsData(functions=[], all=(function,)),
        offer_causes(function.graph, cause),
    )
    return list(SameInUnrolled()(compiled([*rows, ran("Conv2D", 4.0)], more=more)))


def test_the_same_in_each_turn_is_reported_at_its_line() -> None:
    (finding,) = found(20)
    assert (finding.code, finding.where[0].line) == ("GRF023", 15)
    assert finding.title == "Loop-invariant computation repeated 20 times in a step"
    assert "before the Python loop" in finding.advice


def test_silent_where_tensorflow_takes_the_repetitions_together() -> None:
    assert found(1) == []
