"""First steps of epochs that take longer: buffers fill again."""

from __future__ import annotations

import msgspec

from tfperfkit.records.epoch_starts import Late, epoch_starts
from tfperfkit.rule import Evidence


class Epochs(msgspec.Struct, frozen=True):
    """First steps of epochs that take longer, in ms per clean step. ``length`` is that of an epoch, in steps."""

    length: int
    late_ms: float  # in excess of an ordinary step
    unseen_ms: float  # the part of it that the account does not have as "input"


def epochs(evidence: Evidence) -> Epochs | None:
    """Find the first steps of epochs that take longer. None if the longer steps are not at the beginning of epochs."""
    account = evidence.account
    if account is None or not account.steps:
        return None
    clean = evidence.steps.clean
    found = epoch_starts(
        [Late(item.step, item.excess_ms, item.cause) for item in account.outliers],
        {step.number for step in clean},
        any(step.input_ns for step in clean),
    )
    if found is None:
        return None
    return Epochs(
        found.length,
        sum(item.excess_ms for item in found.late) / account.steps,
        sum(item.excess_ms for item in found.late if item.cause != "input") / account.steps,
    )
