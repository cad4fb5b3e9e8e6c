"""Time between operations is that of loops whose turns the trace leaves out, not of what else is small."""

from __future__ import annotations

from typing import Any

import msgspec
from computed_builder import compiled, ran
from evidence_builder import FILE
from graph_causes import offer_causes
from tfperfkit_probes.ops.model import GraphLoop, Marks, OpsData
from tfperfkit_rules.graph.small_updates import OneByOne, SmallUpdates
from tfprof_builder import brief

from tfperfkit.model import SourceSpan
from tfperfkit.offers import FunctionCalls

LOOP = GraphLoop(
    name="rnn/while", where=None, turns=40_000, goes=1.0, operations=24.0, flops=1.0, elements=1.0, measured=True
)


def found(*loops: GraphLoop) -> list[Any]:
    """Judge a step of 20 ms in which 2,000 operations of an optimizer take 0.4 ms, and between operations pass 18."""
    many = [f"adam/Mul_{number}" for number in range(2000)]
    small = OneByOne(
        where=SourceSpan(FILE, 9),
        operations=["adam/none"],
        updates=many,
        left=0.1,
        variables=200,
        each=10.0,
        numbers=64.0,
        alike=1,
        shapes=4,
    )
    function = brief(graph="__inference_step_1", first_execution_ms=5.0, marks=Marks(loops=list(loops)))
    rows = [msgspec.structs.replace(ran("Mul", 0.0002, "update"), of=name) for name in many]
    calls = FunctionCalls(per_step={"__inference_step_1": 1.0})
    more = (calls, OpsData(functions=[], all=(function,)), offer_causes("__inference_step_1", small))
    return list(SmallUpdates()(compiled([*rows, ran("MatMul", 1.0)], idle_ms=18.0, more=more)))


def test_updates_take_their_part_of_the_time_between_operations() -> None:
    (finding,) = found()
    assert finding.code == "GRF032" and finding.share_of_step > 0.4


def test_a_loop_of_tiny_turns_takes_it_though_no_trace_has_them() -> None:
    assert found(LOOP) == []
    assert found(msgspec.structs.replace(LOOP, turns=None)) == [], "however many they are"
    assert found(msgspec.structs.replace(LOOP, turns=None, trains=True)), "a loop over steps, which are in the trace"
