"""A cause that a rule about graphs knows is found wherever a program runs a graph."""

from __future__ import annotations

import pytest
from graph_contexts import CONTEXTS, NOT_THERE, is_found, list_causes
from tfperfkit_rules.measures import graph_time
from tfprof_builder import graphs, op
from work_builder import frame, sampled, work_evidence

from tfperfkit.offers import RanOperation, RanOperations


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_cause_is_found(context: str) -> None:
    missed = {waste.code for waste in list_causes() if not is_found(waste, context)}
    assert missed == {code for code, place in NOT_THERE if place == context}


def test_a_trace_after_the_steps_tells_of_the_work_and_not_the_one_of_the_steps() -> None:
    of_steps = RanOperation(name="MatMul", type="MatMul", count=10, self_ms=90.0, where="graph")
    known = RanOperations(steps=10, rows=(of_steps,), rest_ms=40.0)
    evidence = work_evidence(
        "for x in y:\n    f(x)\n",
        [sampled(400, "graph", frame(2))],
        loop=1,
        iterations=100,
        ops=[op("TopKV2", 500.0, count=25, where="graph")],
        later=True,
        functions=graphs(),
        offers={"steps": [known]},
    )
    assert [row.type for row in graph_time.rows(evidence)] == ["TopKV2"]
    assert graph_time.share(evidence, lambda row: row.type == "TopKV2") == pytest.approx(1.0)
    assert graph_time.rest_ms(evidence) == 0.0
