"""Which parts of an account are computing."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import Samples

_COMPUTE_PARTS: tuple[PartName, ...] = ("graph", "collectives")


def is_compute(part: PartName, samples: Samples, *, trains: bool) -> bool:
    """Return whether a part of the account is computing.

    Compiled functions compute. So does ``predict`` outside of training steps if it is mostly in its compiled function.
    Within training steps (``trains``) ``predict`` is not training, so a finding has to explain it.
    """
    predicts = part == "evaluate" and not trains and 2 * samples.evaluating["graph"] >= samples.contexts["evaluate"]
    return part in _COMPUTE_PARTS or predicts


def has_long_operations(operations_ms: float, dispatch_ms: float) -> bool:
    """Return whether eager operations compute: dispatching them is negligible next to the time that they run."""
    return dispatch_ms < calibration.LONG_OPERATIONS.value * operations_ms
