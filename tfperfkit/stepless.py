"""Windows by time, for a script that keeps TensorFlow at work and shows no step."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.schedule import PATIENCE_NS, TIME_WINDOW_NS, WindowSpec


class Stepless:
    """Told of the time in which TensorFlow worked; says which window to open and which to close."""

    def __init__(self) -> None:
        self._worked_ns = 0
        self._open: tuple[str, int] | None = None  # probe, when its window ends

    def worked(self, ns: int) -> None:
        """TensorFlow worked for so long, and there was no step."""
        self._worked_ns += ns

    def tick(self, now: int, waiting: Sequence[WindowSpec]) -> tuple[str, WindowSpec | None]:
        """The probe whose window has ended ("" for none) and the window that begins. ``waiting``: those that may."""
        if self._open is not None:
            name, end = self._open
            if now < end:
                return "", None
            self._open = None
            return name, None
        spec = next((spec for spec in waiting if spec.start is None), None)
        if spec is None or self._worked_ns <= PATIENCE_NS:
            return "", None
        self._open = (spec.probe, now + TIME_WINDOW_NS)
        return "", spec

    def end(self) -> str:
        """A step has come: the probe whose window must be closed, or ""."""
        name = self._open[0] if self._open is not None else ""
        self._open = None
        return name
