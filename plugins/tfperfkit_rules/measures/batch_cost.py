"""The part of a compiled step that does not depend on the batch size, from the trace."""

from __future__ import annotations

import msgspec

from tfperfkit.model import Measurement
from tfperfkit.offers import RanOperations, StepBreakdown
from tfperfkit.pricing import costs
from tfperfkit.rule import Evidence


class StepCost(msgspec.Struct, frozen=True, kw_only=True):
    """ms of the mean clean step.

    ``operations_ms``: own time of the operations in compiled functions; ``work_ms``: its excess over the time of as
    many trivial operations, which may grow with the batch.
    """

    step_ms: float
    graph_ms: float
    input_ms: float
    operations_ms: float
    work_ms: float
    operations: float

    def evidence(self) -> tuple[Measurement, ...]:
        """Return the measurements that support a finding."""
        return (
            Measurement("step", self.step_ms, "ms", "baseline"),
            Measurement("time in compiled functions", self.graph_ms, "ms", "breakdown"),
            Measurement("time in operations of compiled functions", self.operations_ms, "ms", "breakdown"),
            Measurement("time of operations that may grow with the batch", self.work_ms, "ms", "breakdown"),
        )


def step_cost(evidence: Evidence) -> StepCost | None:
    """None when the step was not traced or runs no compiled function."""
    data, breakdown = evidence.offer(RanOperations), evidence.offer(StepBreakdown)
    account = evidence.account
    if data is None or not data.steps or breakdown is None or account is None or not account.parts_ms:
        return None
    rows = [row for row in data.rows if row.where in ("graph", "xla", "device") and row.count]
    traced = breakdown.parts_ms.get("graph", 0.0)
    graph = evidence.part("graph", "copies", "collectives")
    if not rows or traced <= 0 or graph <= 0:
        return None
    scale = min(1.0, graph / traced) / data.steps
    operations = sum(row.self_ms for row in rows) + data.rest_ms
    tiny = costs.find_tiny_ms(row.self_ms / row.count for row in rows)
    work = sum(max(0.0, row.self_ms - costs.SMALL_OPERATION.value * tiny * row.count) for row in rows)
    return StepCost(
        step_ms=account.mean_ms,
        graph_ms=graph,
        input_ms=evidence.part("input"),
        operations_ms=min(operations * scale, graph),
        work_ms=min(work * scale, graph),
        operations=sum(row.count for row in rows) / data.steps,
    )
