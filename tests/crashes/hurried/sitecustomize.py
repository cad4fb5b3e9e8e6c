"""For the tests: windows by time begin as soon as TensorFlow is at work, are short, and come again and again.

Python runs it in each process whose PYTHONPATH names this folder, after the sitecustomize of tfperf.
"""

from __future__ import annotations

import os

from tfperfkit.recording import by_time, schedule, ticks, timed_windows

by_time.PATIENCE_NS = by_time.FIRST_PATIENCE_NS = int(float(os.environ.get("HURRIED_PATIENCE_MS", "50")) * 1e6)
timed_windows.length_ns = lambda spec: int(float(os.environ.get("HURRIED_WINDOW_MS", "50")) * 1e6)  # type: ignore[assignment]
timed_windows._WITHIN_NS = int(float(os.environ.get("HURRIED_WITHIN_MS", "50")) * 1e6)
timed_windows._LASTS_NS = 50_000_000
ticks._FLUSH_NS = 10_000_000


def _again(self: schedule.Scheduler, window: schedule.WindowSpec) -> None:
    """Given, and to be given again when the others have had their turn."""
    self._waiting.remove(window)
    self._waiting.append(window)


if os.environ.get("HURRIED_AGAIN", "1") == "1":
    schedule.Scheduler.give_up = _again  # type: ignore[method-assign]
