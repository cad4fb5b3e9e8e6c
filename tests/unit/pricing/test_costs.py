"""Predictions use the costs that ``tfperf doctor`` measured on the machine of the run."""

from __future__ import annotations

import msgspec
import pytest
from evidence_builder import make_evidence

from tfperfkit.pricing import costs
from tfperfkit.pricing.costs import BEYOND_LEAST, find_cost, list_costs
from tfperfkit.rule import Evidence


def on_a_machine(**measured: float) -> Evidence:
    evidence = make_evidence(parts_ms={"graph": 1.0})
    evidence.run = msgspec.structs.replace(evidence.run, machine={**evidence.run.machine, **measured})
    return evidence


def test_a_measured_cost_stands_for_the_usual_one_and_is_named() -> None:
    evidence = on_a_machine(call_ms=0.05)
    assert find_cost(evidence, "call_ms") == (0.05, 0.05 * BEYOND_LEAST.value)
    (named,) = list_costs(evidence, "call_ms", "graph_op_ms")
    assert named.value == 0.05 and named.name == "call of a compiled function on this machine"


def test_without_a_measurement_the_usual_cost_counts() -> None:
    usual = costs.FUNCTION_CALL_MIN_MS.value, costs.FUNCTION_CALL_MAX_MS.value
    assert find_cost(on_a_machine(), "call_ms") == usual
    assert list(list_costs(on_a_machine(), "call_ms", "graph_op_ms")) == []


def test_a_cost_that_no_prediction_uses_is_refused() -> None:
    with pytest.raises(KeyError):
        find_cost(on_a_machine(), "swim_ms")
