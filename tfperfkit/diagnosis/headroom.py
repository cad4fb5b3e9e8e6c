"""Gains of other choices if nothing is wrong: a larger batch, several steps in one call."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit import calibration
from tfperfkit.diagnosis.small import is_small
from tfperfkit.gain import LOW
from tfperfkit.model import Finding

#: A factor from which headroom is the first line's.
LARGE = calibration.LARGE_HEADROOM.value
MANY = calibration.MAX_HEADROOM.value


def split(findings: Sequence[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings, and what is headroom, the most first: none where a finding asks for a change that is more
    than a small one: its fix comes first and changes what is left."""
    faults = tuple(item for item in findings if not item.headroom)
    rest = sorted((item for item in findings if item.headroom), key=lambda item: -item.gain.saved)
    if any(item.severity != "info" and not _gives_way(item, rest) for item in faults):
        return faults, ()
    return faults, tuple(rest[:MANY])


def _gives_way(finding: Finding, headroom: Sequence[Finding]) -> bool:
    return is_small(finding) or affects_less_of_run(finding, headroom) or is_speculative(finding, headroom)


def is_speculative(finding: Finding, headroom: Sequence[Finding]) -> bool:
    """Return whether a finding may well gain nothing, and at best less than the best choice gives at least."""
    if finding.gain.bounds is None:
        return False
    surely = max((item.gain.low or 1.0 for item in large(headroom) if not item.work), default=1.0)
    return finding.gain.surely < LOW and finding.gain.bounds[1] < surely


def affects_less_of_run(finding: Finding, headroom: Sequence[Finding]) -> bool:
    """Return whether a finding outside of the training steps, whose fix leaves those as they are, saves less of the run
    than the best choice in them, which has to be worth the first line; False if either is not known."""
    room = max((_of_run(item) or 0.0 for item in large(headroom) if not item.work), default=0.0)
    saved = _of_run(finding)
    return bool(finding.work) and saved is not None and saved < room


def _of_run(finding: Finding) -> float | None:
    """Return the share of the run that is saved: that of the time which it is about, by that time's share of the
    run."""
    if finding.share_of_run is None or not finding.share_of_step:
        return None
    return finding.gain.saved * finding.share_of_run / finding.share_of_step


def large(headroom: Sequence[Finding]) -> Sequence[Finding]:
    """Return the headroom that is worth the first line."""
    return [item for item in headroom if item.gain.factor >= LARGE]
