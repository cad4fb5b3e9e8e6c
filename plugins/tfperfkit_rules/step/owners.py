"""Which findings explain a part of an account."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfperfkit import calibration
from tfperfkit.ledger.explained_parts import explained_parts
from tfperfkit.model import Finding
from tfperfkit.records.parts import PartName
from tfperfkit.rule import Evidence

EXPLAINS = calibration.EXPLAINS.value
#: A part with a larger share of the account needs a finding that explains it.
MIN_UNEXPLAINED = calibration.MIN_UNEXPLAINED.value


def findings_of_work(evidence: Evidence, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings about the same training steps, or the same other work, as the evidence."""
    name = evidence.work.name if evidence.work is not None else ""
    return [item for item in findings if item.work == name]


def has_owner(part: PartName, share: float, findings: Sequence[Finding]) -> bool:
    """Return whether a finding explains the larger half of a part with this share of the account.

    A finding about eager operations explains all of them as soon as it is large enough to need an owner itself: the
    heavy operations that its remedy leaves compute.
    """
    half = EXPLAINS * share
    return any(
        part in explained_parts(item)
        and item.share_of_step
        >= (min(MIN_UNEXPLAINED, half) if part == "eager_ops" and item.family == "eager" else half)
        for item in findings
    )
