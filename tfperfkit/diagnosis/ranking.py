"""The order of findings: what fixing them gains, the most first; and how loud each may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from tfperfkit.calibration import UNKNOWN_PART
from tfperfkit.gain import HIGH, LOW, MEDIUM, UpTo, severity
from tfperfkit.model import Basis, Finding

_SEVERITY = {"high": 0, "medium": 1, "low": 2, "info": 3}


_OF_STEPS = ("step", "turn")


def rank(
    findings: Iterable[Finding],
    shares: Mapping[tuple[str, Basis], float] | None = None,
    repeated: float = 0.0,
) -> tuple[Finding, ...]:
    """Return the findings, costliest first.

    A mere "info" stands after everything that asks for a change; ties keep their order. Findings that concern the whole
    run or a risk are between them, by their own severity. ``shares``: of the run, by ``Finding.work`` and basis: what a
    finding gains counts by the time that its work takes next to the longest one's. ``repeated``: the share of the run
    without what is paid once (imports, ending); 0 if that is not known. Severities go by the share of the repeated time
    that a fix saves.
    """
    longest = max((shares or {}).values(), default=0.0)
    weights = {key: share / longest for key, share in (shares or {}).items()} if longest > 0 else {}
    of_repeated = {key: min(share / repeated, 1.0) for key, share in (shares or {}).items()} if repeated > 0 else {}
    voiced = [_set_severity(item, of_repeated.get((item.work, item.basis), 1.0)) for item in findings]
    return tuple(sorted(voiced, key=lambda item: _make_key(item, weights.get((item.work, item.basis), 1.0), longest)))


def _make_key(finding: Finding, weight: float, longest: float) -> tuple[float, ...]:
    saved = finding.gain.saved
    worth = saved * weight if finding.basis in _OF_STEPS else max(saved, _of_run(finding))
    if finding.saves_share is not None and finding.basis in _OF_STEPS and longest > 0:
        worth = sum(finding.saves_share) / 2 / longest  # the centre
    if isinstance(finding.gain, UpTo):
        worth = weight * finding.share_of_step * UNKNOWN_PART.value
        if finding.basis == "run" and finding.severity == "low":  # its rule says that it may not come again
            worth = min(worth, LOW)
    if finding.basis == "risk":  # no time to compare: a grave risk stands with what costs a fifth of a step
        worth = max(worth, {"high": HIGH, "medium": MEDIUM, "low": LOW, "info": 0.0}[finding.severity])
    return (finding.severity == "info", -worth, -finding.share_of_step * weight, _SEVERITY[finding.severity])


def _of_run(finding: Finding) -> float:
    """Return the share of the run, as far as the rule itself calls it loud: what is paid once, and of which nobody can
    tell what goes, stands behind a cause whose gain is known."""
    most = {"high": 1.0, "medium": HIGH, "low": MEDIUM, "info": 0.0}[finding.severity]
    return finding.share_of_step if finding.gain.saved else min(finding.share_of_step, most)


def _set_severity(finding: Finding, weight: float) -> Finding:
    """Return the finding with the severity of what its fix saves of the run; ``weight``: its work's share of the run.

    A fix that saves less than 2 % of its own work is a remark. One that saves more stays a finding, however little of
    this run its work is: in a longer run the work may be more.
    """
    if finding.basis not in _OF_STEPS or finding.severity == "info" or isinstance(finding.gain, UpTo):
        return finding
    saved = finding.gain.saved
    return msgspec.structs.replace(finding, severity=severity(max(saved * weight, min(saved, LOW))))
