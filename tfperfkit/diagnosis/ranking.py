"""The order of findings: what fixing them gains, the most first; and how loud each may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tfperfkit.calibration import UNKNOWN_PART
from tfperfkit.diagnosis.severity import Saved, find_saved, find_saved_of_run, set_severity
from tfperfkit.gain import HIGH, LOW, MEDIUM, UpTo
from tfperfkit.model import Basis, Finding

_SEVERITY = {"high": 0, "medium": 1, "low": 2, "info": 3}


_OF_STEPS = ("step", "turn")


def rank(
    findings: Iterable[Finding],
    shares: Mapping[tuple[str, Basis], float] | None = None,
    repeated: float = 0.0,
    *,
    cut_short: bool = False,
) -> tuple[Finding, ...]:
    """Return the findings, costliest first.

    A mere "info" stands after everything that asks for a change; ties keep their order. Findings that concern the whole
    run or a risk are between them, by their own severity. ``shares``: of the run, by ``Finding.work`` and basis: what a
    finding gains counts by the time that its work takes next to the longest one's. ``repeated``: the share of the run
    without what is paid once (imports, ending); 0 if that is not known. ``cut_short``: the run ended before its
    training did, so what the training steps gain counts as in a training of full length.
    """
    longest = max((shares or {}).values(), default=0.0)
    weights = {key: share / longest for key, share in (shares or {}).items()} if longest > 0 else {}

    def find_saving(item: Finding) -> Saved:
        of_steps = cut_short and not item.work and item.basis in _OF_STEPS
        saved = find_saved_of_run(item, repeated) if repeated > 0 and not of_steps else None
        if saved is not None:
            return saved
        share = (shares or {}).get((item.work, item.basis), 1.0) / repeated if repeated > 0 else 1.0
        return find_saved(item, min(share, 1.0))

    voiced = [set_severity(item, find_saving(item)) for item in findings]
    return tuple(sorted(voiced, key=lambda item: _make_key(item, weights.get((item.work, item.basis), 1.0), longest)))


def _make_key(finding: Finding, weight: float, longest: float) -> tuple[float, ...]:
    saved = finding.gain.saved
    worth = saved * weight if finding.basis in _OF_STEPS else max(saved, _of_run(finding))
    if finding.saves_share is not None and finding.basis in _OF_STEPS and longest > 0:
        worth = sum(finding.saves_share) / 2 / longest  # the centre
    if isinstance(finding.gain, UpTo):
        worth = weight * finding.share_of_step * UNKNOWN_PART.value
        if finding.basis == "run":  # it may not come again
            worth = min(worth, LOW)
    if finding.basis == "risk":  # no time to compare: a grave risk stands with what costs a fifth of a step
        worth = max(worth, {"high": HIGH, "medium": MEDIUM, "low": LOW, "info": 0.0}[finding.severity])
    return (finding.severity == "info", -worth, -finding.share_of_step * weight, _SEVERITY[finding.severity])


def _of_run(finding: Finding) -> float:
    """Return the share of the run that counts for a finding about the whole run: what is paid once, and of which nobody
    can tell what goes, stands behind a cause whose gain is known."""
    if finding.gain.saved:
        return finding.share_of_step
    return min(finding.share_of_step, 0.0 if finding.severity == "info" else MEDIUM)
