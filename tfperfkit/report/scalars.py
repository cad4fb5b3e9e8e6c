"""The account and the findings as numbers by name, as trackers and callbacks take them."""

from __future__ import annotations

import math

from tfperfkit.model import Report


def scalars(report: Report) -> dict[str, float]:
    """``tfperf_step_ms`` (the mean clean step), ``tfperf_share_PART`` of it (0 to 1), and for each finding
    ``tfperf_finding_CODE``, its share."""
    made: dict[str, float] = {}
    parts = {part: ms for part, ms in (report.steps.breakdown_ms or {}).items() if math.isfinite(ms)}
    total = sum(parts.values())
    if total > 0:
        made["tfperf_step_ms"] = total
        made |= {f"tfperf_share_{part}": ms / total for part, ms in parts.items()}
    for finding in report.findings:
        if math.isfinite(finding.share_of_step):
            name = f"tfperf_finding_{finding.code}"
            made[name] = max(made.get(name, 0.0), finding.share_of_step)
    return made
