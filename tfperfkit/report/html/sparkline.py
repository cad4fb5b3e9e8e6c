"""The times of the steps as a small line in the first screen."""

from __future__ import annotations

import math
from typing import Any

from tfperfkit.model import Report
from tfperfkit.report.html.words import figure

_WIDTH, _HEIGHT, _POINTS = 240, 36, 120
#: A step above this multiple of the 90th percentile is drawn at the upper edge.
_HIGHEST = 2.2


def draw_sparkline(report: Report) -> dict[str, Any] | None:
    """Return the points of a line in a box of ``width`` times ``height``, and its words; None for under 3 steps.

    A long run has the median of neighbours for a point.
    """
    timeline = report.album.timeline if report.album is not None else None
    times = [bar.median_ms for bar in timeline.bars if math.isfinite(bar.median_ms)] if timeline is not None else []
    if len(times) < 3:
        return None
    group = math.ceil(len(times) / _POINTS)
    points = [sorted(times[at : at + group])[len(times[at : at + group]) // 2] for at in range(0, len(times), group)]
    usual = sorted(points)[int(len(points) * 0.9)]
    top = min(max(points), usual * _HIGHEST) or 1.0
    across = _WIDTH / max(len(points) - 1, 1)
    line = [
        (across * number, _HEIGHT - 2 - (_HEIGHT - 4) * min(value / top, 1.0)) for number, value in enumerate(points)
    ]
    spoken = f"time of each step: {figure(min(points), 'ms')} to {figure(max(points), 'ms')}"
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "points": " ".join(f"{x:.1f},{y:.1f}" for x, y in line),
        "spoken": spoken,
    }
