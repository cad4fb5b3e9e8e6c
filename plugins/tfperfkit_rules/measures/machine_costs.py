"""Costs of TensorFlow's own work on the machine of the run, if ``tfperf doctor`` measured them, else the usual ones."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.model import Measurement
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.bounds import Bounds

BEYOND_LEAST = Threshold(
    2.0,
    "number",
    "maximum ratio of a cost in a script to the least that was measured on the machine",
    Derived("calls have arguments to bind, and the usual costs are 1.7 to 5.7 times apart, see FUNCTION_CALL_MAX_MS"),
)
_USUAL = {
    "call_ms": (shared.FUNCTION_CALL_MIN_MS, shared.FUNCTION_CALL_MAX_MS),
    "graph_op_ms": (shared.GRAPH_OP_MIN_MS, shared.GRAPH_OP_MAX_MS),
}
_NAMES = {"call_ms": "call of a compiled function", "graph_op_ms": "operation in a graph"}


def find_cost(evidence: Evidence, name: str) -> Bounds:
    """Return the ms, from and to, of a call of a compiled function (``call_ms``) or of an operation in a graph
    (``graph_op_ms``). Raises ``KeyError`` for another name."""
    least, most = (threshold.value for threshold in _USUAL[name])
    measured = evidence.run.machine.get(name)
    return Bounds(measured, BEYOND_LEAST.value * measured) if isinstance(measured, float) else Bounds(least, most)


def list_costs(evidence: Evidence, *names: str) -> Iterator[Measurement]:
    """Yield the costs that a prediction used, as far as they were measured on this machine."""
    for name in names:
        measured = evidence.run.machine.get(name)
        if isinstance(measured, float):
            yield Measurement(f"{_NAMES[name]} on this machine", measured, "ms", "tfperf doctor")
