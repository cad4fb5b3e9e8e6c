"""The retrace probe: every trace of every tf.function, why it happened, what it cost and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from tfperfkit.model import ProbeResult
from tfperfkit.picture import Picture
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording


class RetraceProbe:
    """Every trace of a tf.function: step, time, and the argument and line that caused it.

    Sees traces only, so it costs nothing while nothing is traced, and is on from arming to the end.
    """

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "retrace"
    cost: ClassVar[Cost] = Cost.FREE
    claims: ClassVar[frozenset[str]] = frozenset()

    def record(self, recording: Recording, /) -> AbstractContextManager[None]:
        """Append a record to the stream ``traces`` for each trace. Raises ``Unavailable`` without a known seam."""
        from tfperfkit_probes.retrace.record import recorded

        return recorded(recording)

    def prepare(self, capture: Capture, /) -> None:
        """Import what ``analyze`` needs."""
        import tfperfkit_probes.retrace.result  # noqa: F401

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Number and judge the traces: why each happened, and which could have been avoided."""
        from tfperfkit_probes.retrace.result import result

        return result(capture)

    def brief(self, capture: Capture, /) -> tuple[Any, ...]:
        """How often each function was traced, and which values made it so."""
        return self.analyze(capture).offers

    def pictures(self, capture: Capture, result: ProbeResult, /) -> Iterable[Picture]:
        """See ``tfperfkit.picture``."""
        from tfperfkit_probes.retrace.pictures import pictures

        return pictures(result.data)
