"""Two findings never own the same time: one that would is folded into the one that stands before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.diagnosis.merging import EXPLAINS, fold_in
from tfperfkit.ledger.call_tree import Ledger
from tfperfkit.ledger.ownership import find_owned
from tfperfkit.model import Finding


class _Claim(NamedTuple):
    finding: Finding
    seconds: float
    owned: frozenset[int]


def fold_same_time(
    ranked: Sequence[Finding], ledger: Ledger, scope_of: Callable[[Finding], frozenset[int]]
) -> tuple[Finding, ...]:
    """Return the findings without those that claim time of the run which an earlier one claims.

    Two findings claim the same time if together they claim more than the call sites of both took, and most of what the
    later one owns is owned by the earlier one too. ``scope_of``: the entries of the ledger that a finding is about.
    """
    kept: list[_Claim] = []
    folded: dict[int, list[Finding]] = {}
    for finding in ranked:
        seconds = (finding.share_of_run or 0.0) * ledger.total
        owned = find_owned(finding, ledger, scope_of(finding), seconds) if seconds else frozenset()
        claim = _Claim(finding, seconds, owned)
        first = next((index for index, other in enumerate(kept) if _claims_same_time(other, claim, ledger)), None)
        if first is None:
            kept.append(claim)
        else:
            folded.setdefault(first, []).append(finding)
    return tuple(fold_in(claim.finding, folded.get(index, [])) for index, claim in enumerate(kept))


def _claims_same_time(major: _Claim, minor: _Claim, ledger: Ledger) -> bool:
    if not major.owned or not minor.owned or "info" in (major.finding.severity, minor.finding.severity):
        return False
    both = ledger.add_up(major.owned | minor.owned)
    spare = calibration.MIN_UNEXPLAINED.value * ledger.total  # what shares of samples are uncertain by
    common = ledger.add_up(major.owned & minor.owned)
    return major.seconds + minor.seconds > both + spare and common >= EXPLAINS * ledger.add_up(minor.owned)
