"""Findings with the measurements of experiments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from tfperfkit.model import Finding, Measured
from tfperfkit.records.trials import place_of

#: A gain below this is none.
_NOTHING = 1.05
_TELLS = ("faster", "slower", "no difference")


def proven(findings: Iterable[Finding], measured: Sequence[Measured]) -> tuple[Finding, ...]:
    """Return each finding with the experiment that tested it; refuted findings are at the end."""
    reported = [_add_measured(finding, measured) for finding in findings]
    return (*(item for item in reported if not refuted(item)), *(item for item in reported if refuted(item)))


def refuted(finding: Finding) -> bool:
    """Return whether what was measured excludes the gain: of the remedy, or of all that it could bring."""
    item = finding.measured
    if item is None or item.verdict not in _TELLS or item.interval is None:
        return False
    if item.verdict == "slower":
        return True
    low, upper = finding.gain.bounds[0] if finding.gain.bounds else None, item.interval[1]
    return upper < _NOTHING or (item.verdict == "no difference" and low is not None and upper < low)


def _add_measured(finding: Finding, measured: Sequence[Measured]) -> Finding:
    """Return the finding with the best measurement of experiments."""
    of_it = [item for item in measured if item.finding == finding.code and item.place == place_of(finding)]
    if not of_it:
        return finding
    best = min(of_it, key=lambda item: (item.verdict not in _TELLS, item.keeps == "ceiling", -(item.speedup or 0.0)))
    return msgspec.structs.replace(finding, measured=best)
