"""The probe ``tfprof``: a few steps under the TF Profiler; the step's breakdown, its operations, the input's share."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from tfperfkit.model import ProbeResult
from tfperfkit.option import Option
from tfperfkit.picture import Picture
from tfperfkit.probe import Capture, Cost, Recording, WindowWish
from tfperfkit.timeline import Tick, Timeline


class TfprofProbe:
    """Time of a step by part and by operation, from a trace of the TF Profiler."""

    api: ClassVar[int] = 1
    name: ClassVar[str] = "tfprof"
    cost: ClassVar[Cost] = Cost.WINDOW
    claims: ClassVar[frozenset[str]] = frozenset({"tf.profiler"})
    #: A trace grows by some 100 KB a step; XProf drops its first and its last one. Its session may begin and end while
    #: operations run: TensorFlow's own profiler server does that from a thread of its own.
    window: ClassVar[WindowWish] = WindowWish(
        seconds=0.3, min_steps=3, min_slow_steps=3, max_steps=20, extra_steps=2, after_steps=True, any_thread=True
    )
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            name="python",
            type="flag",
            default=False,
            help="Also trace Python calls: up to 1.4 times slower in that window.",
        ),
        Option(
            name="max_mb",
            type="float",
            default=512.0,
            minimum=1,
            metavar="MB",
            in_report=True,
            help="Read traces up to this size. [default: 512]",
        ),
    )

    def record(self, recording: Recording, /) -> AbstractContextManager[None]:
        from tfperfkit_probes.tfprof.record import Recorder

        return Recorder(recording)

    def prepare(self, capture: Capture, /) -> None:
        """Read the trace, as far as it is there."""
        from tfperfkit_probes.tfprof.result import result

        result(capture)

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """The step's breakdown, its operations, what it calls."""
        from tfperfkit_probes.tfprof.result import result

        return result(capture)

    def brief(self, capture: Capture, /) -> tuple[Any, ...]:
        """All that a trace offers, where one was asked for."""
        return self.analyze(capture).offers

    def timeline(self, capture: Capture, limit: int, tick: Tick, /) -> Timeline:
        """The trace for ``tfperf export``."""
        from tfperfkit_probes.tfprof.result import slices

        return slices(capture, limit, tick)

    def pictures(self, capture: Capture, result: ProbeResult, /) -> Iterable[Picture]:
        """See ``tfperfkit.picture``."""
        from tfperfkit_probes.tfprof.pictures import pictures

        return pictures(result.data)
