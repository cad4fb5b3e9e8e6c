"""What is predicted of steps or of a work, reckoned for the whole script: what its mended twin is timed against."""

from __future__ import annotations

from typing import Any


def of_script(gain: float, finding: dict[str, Any], report: dict[str, Any]) -> float:
    """What a gain of the steps (or of the work) that a finding is about is for the script after its imports, whose rest
    stays as it is."""
    wall = report["run"]["wall_s"]
    parts = report["run_account"]["parts_s"]  # KeyError: better no figure than one with the imports in it
    after = report["run_account"]["total_s"] - parts["imports"] - parts.get("tfperf", 0.0)
    share, of_run = finding["share_of_step"], finding.get("share_of_run")
    if finding["basis"] == "run" or not share or of_run is None or after <= 0:
        return gain
    scope = min(of_run / share * wall, after)
    return after / (after - scope * (1 - 1 / gain))
