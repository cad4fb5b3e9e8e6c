"""The prediction of a finding for the whole script, which is compared with its fixed twin's time."""

from __future__ import annotations

import math
from typing import Any

#: Parts before a script's own work, after it, or not its own.
_NOT_ITS_OWN = ("imports", "ending", "tfperf")


def of_script(gain: float, finding: dict[str, Any], report: dict[str, Any]) -> float:
    """Convert a gain of a finding's steps (or work) to the script after its imports and without its end, whose rest
    stays.

    For an end of the prediction it uses the finding's saved seconds: they include savings of the remedy elsewhere, and
    iterators that are destroyed sooner. Of another gain, or where a report has no such seconds, the share of the run
    tells it."""
    wall = report["run"]["wall_s"]
    parts = report["run_account"]["parts_s"]  # KeyError: better no figure than one with the imports in it
    after = report["run_account"]["total_s"] - sum(parts.get(name, 0.0) for name in _NOT_ITS_OWN)
    share, of_run = finding["share_of_step"], finding.get("share_of_run")
    saved = _saved_s(gain, finding)
    if saved is None:
        if finding["basis"] == "run" or not share or of_run is None or after <= 0:
            return gain
        saved = min(of_run / share * wall, after) * (1 - 1 / gain)
    return after / (after - saved) if saved < after else math.inf


def _saved_s(gain: float, finding: dict[str, Any]) -> float | None:
    """The seconds that a gain saves; between the ends of a range, in proportion to what it takes off a step."""
    low, high = finding.get("saves_s") or (None, None)
    ends = finding.get("predicted_range")
    if low is None:
        return None
    if high is None or not ends:
        return low if gain == (finding.get("at_least") or finding.get("predicted_speedup")) else None
    least, most = (1 - 1 / end for end in ends)
    if most <= least or not ends[0] <= gain <= ends[1]:
        return low if gain == ends[0] else None
    return low + (high - low) * ((1 - 1 / gain) - least) / (most - least)
