"""What compiling leaves of eager operations in a work outside of training steps, or beside a compiled step, from a
trace of them.

The same reckoning as ``eager.gain`` makes of a training step that is to be compiled, with two differences: a trace of a
work has no steps, so it is scaled by time; and operations on files stay what they are.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tfperfkit.gain import interval, speedups
from tfperfkit.model import Measurement
from tfperfkit.offers import RanOperation, RanOperations
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import eager as calibrated
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.eager.gain import FREE, HEAVY, SMALL, Bounds, is_of, light_bounds, tiny_of, together, work_of
from tfperfkit_rules.measures.trace_window import Traced, traced

#: What reads and decodes files, whoever calls it.
_FILES = ("ReadFile", "WriteFile", "Decode", "Encode", "Parse", "Dataset", "Iterator")


class Left(NamedTuple):
    """Shares of the eager time, the least and the most, that are left when it is compiled; ``operations`` in an
    iteration or in the longest stretch; None where no trace counted them. ``types``: the most frequent."""

    least: float
    most: float
    operations: float | None = None
    types: tuple[str, ...] = ()
    traced_by: str = ""

    def bounds(self, share: float, samples: int) -> tuple[float, float]:
        """Factors of speed where eager operations have this share of the work."""
        low, high = interval(share, samples)
        high = min(high, shared.MAX_STEP_SHARE.value)
        return speedups(low * (1 - self.most), high * (1 - self.least))

    @property
    def evidence(self) -> tuple[Measurement, ...]:
        if self.operations is None:
            return ()
        return (Measurement("operations in it", self.operations, "count", self.traced_by),)


def left(evidence: Evidence, share: float, calls: float | None, otherwise: tuple[float, float]) -> Left:
    """``share``: of the work in eager operations; ``calls``: of what would be compiled, in an iteration or the
    stretch; ``otherwise``: (least, most) without a trace."""
    seen = traced(evidence) if evidence.work is not None else _of_steps(evidence)
    own = share * (evidence.step_ms or 0.0)
    rows = [row for row in seen.rows if row.where == "eager" and not is_of(row, _FILES)] if seen is not None else []
    count = sum(row.count for row in rows)
    if seen is None or own <= 0 or count < calibrated.MIN_OPERATIONS.value:
        return Left(*otherwise)
    return _of(seen, rows, own, calls)


def _of_steps(evidence: Evidence) -> Traced | None:
    """The operations of the traced training steps."""
    ran = evidence.offer(RanOperations)
    if ran is None or not ran.steps:
        return None
    return Traced(ran.rows, 1 / ran.steps, evidence.offered_by(RanOperations))


def _of(seen: Traced, rows: list[RanOperation], own: float, calls: float | None) -> Left:
    tiny = tiny_of(rows)
    heavy = [row for row in rows if is_of(row, HEAVY)]
    light = [row for row in rows if row not in heavy and not row.type.startswith(FREE)]
    operations = sum(row.count for row in rows) * seen.scale
    called = calls if calls is not None else operations / calibrated.MIN_OPERATIONS.value
    fewest = min(called, operations / calibrated.MIN_OPERATIONS.value)
    estimate = together(
        (
            Bounds(operations * shared.GRAPH_OP_MIN_MS.value, operations * shared.GRAPH_OP_MAX_MS.value),
            Bounds(fewest * shared.FUNCTION_CALL_MIN_MS.value, called * shared.FUNCTION_CALL_MAX_MS.value),
            Bounds(work_of(heavy, SMALL * tiny) * seen.scale, work_of(heavy, tiny) * seen.scale),
            light_bounds(light, tiny, seen.scale),
        )
    ).within(calibrated.AGAIN.value)
    highest = min(estimate.most / own, shared.MAX_STEP_SHARE.value)
    types = Counter({row.type: row.count for row in rows if not row.type.startswith("_")})
    frequent = tuple(name for name, _ in types.most_common(3))
    return Left(min(estimate.least / own, highest), highest, operations, frequent, seen.by)
