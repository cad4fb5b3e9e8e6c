"""How loud a finding is: one rule for all findings, by the share of the run that the remedy saves.

The share is of the run without imports and its end, which are paid once. If the run was cut short, it is of a training
of full length, which is all steps. A level asks for two things: the likely saving reaches its threshold, and the lower
end reaches the threshold of the level below. So a saving that may be nothing is never HIGH or MEDIUM.

| severity | likely saving | lower end |
|---|---|---|
| HIGH | 20 % | 5 % |
| MEDIUM | 5 % | 2 % |
| LOW | 2 % | none |

A finding that its rule calls "info" stays a remark. Without a prediction nothing is known of the saving, so the finding
is LOW at most. A risk (``Finding.basis``) costs no time yet: its rule says how grave it is.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tfperfkit.gain import HIGH, LOW, MEDIUM, Range, Unknown, UpTo, saving
from tfperfkit.model import Finding, Severity

#: (severity, likely saving from which on, lower end from which on), the loudest first.
_LEVELS: tuple[tuple[Severity, float, float], ...] = (
    ("high", HIGH, MEDIUM),
    ("medium", MEDIUM, LOW),
    ("low", LOW, 0.0),
)


class Saved(NamedTuple):
    """Shares (0 to 1) of the repeated time of a run that a remedy saves: at least, and most likely."""

    least: float
    likely: float


def rate(saved: Saved) -> Severity:
    """Return the severity of a remedy that saves these shares."""
    return next((name for name, likely, least in _LEVELS if saved.likely >= likely and saved.least >= least), "info")


def find_saved(finding: Finding, whole: float = 1.0) -> Saved:
    """Return what a finding's gain saves of something of which the finding's time is the share ``whole`` (0 to 1)."""
    return Saved(finding.gain.surely * whole, finding.gain.saved * whole)


def find_saved_of_run(finding: Finding, repeated: float) -> Saved | None:
    """Return what a finding saves of its run, by its seconds; None if these are not known. ``repeated``: the share of
    the run that is not paid once, above 0.

    The likely saving lies between the ends of the seconds where the gain's likely factor lies between its ends.
    """
    if finding.saves_share is None:
        return None
    low, high = (min(share / repeated, 1.0) for share in finding.saves_share)
    position = 0.0
    if isinstance(finding.gain, Range) and (width := saving(finding.gain.high) - finding.gain.surely) > 0:
        position = min(max((finding.gain.saved - finding.gain.surely) / width, 0.0), 1.0)
    return Saved(low, low + position * (high - low))


def set_severity(finding: Finding, saved: Saved) -> Finding:
    """Return the finding with the severity of what its remedy saves of the run.

    One that most likely saves 2 % of its own time or more is LOW at least, however little of this run that time is: in
    a longer run it may be more.
    """
    if finding.severity == "info" or finding.basis == "risk":
        return finding
    if isinstance(finding.gain, UpTo):
        return msgspec.structs.replace(finding, severity="low")
    if isinstance(finding.gain, Unknown):
        return msgspec.structs.replace(finding, severity="low" if finding.basis == "run" else "info")
    likely = max(saved.likely, min(finding.gain.saved, LOW))
    return msgspec.structs.replace(finding, severity=rate(Saved(saved.least, likely)))
