"""The probe ``lines``: time by source line, measured by line_profiler, of the functions that a sampler found hot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar

import msgspec

from tfperfkit.clock import now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.model import ProbeResult
from tfperfkit.option import Option
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording
from tfperfkit_probes.lines.graph.model import DEPTH


class LinesProbe:
    """Time of each source line, in Python and in compiled functions."""

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "lines"
    cost: ClassVar[Cost] = Cost.WINDOW
    claims: ClassVar[frozenset[str]] = frozenset({"sys.settrace", "sys.monitoring"})
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            name="functions",
            type="names",
            metavar="FUNCTIONS",
            flag="--lines",
            help="Profile these functions by line (names with commas), not the hot functions.",
        ),
        Option(
            name="paths",
            type="paths",
            metavar="PATH",
            flag="--lines-in",
            help="Profile all functions of a file or folder by line. May be repeated.",
        ),
        Option(
            name="depth",
            type="int",
            default=DEPTH,
            minimum=0,
            metavar="N",
            in_report=True,
            help="Unfold lines of compiled functions N calls deep. [default: 3]",
        ),
    )

    def background(self, recording: Recording, /) -> AbstractContextManager[None]:
        """Record throughout which source line each operation of a compiled function comes from."""
        from tfperfkit_probes.lines.graph.record import following_graphs

        return following_graphs(recording)

    @contextmanager
    def record(self, recording: Recording, /) -> Iterator[None]:
        """Run line_profiler on the chosen functions; writes ``functions`` records and ``lines.lprof``.

        Raises Unavailable when line_profiler is missing or another tracer (a debugger, coverage) is at work; from
        Python 3.12 on another profiler too, which would not see how functions end.
        """
        import sys
        from _thread import get_ident

        from tfperfkit.instruments.hooks.profiler_slot import profiler
        from tfperfkit_probes.lines.choose import choose, running_frames

        if sys.gettrace() is not None:
            raise Unavailable("the script traces its own lines (a debugger, coverage or line_profiler is active)")
        if (other := profiler()) is not None:
            raise Unavailable(f"{other}, started by the script, is in Python's one place for profilers")
        try:
            from tfperfkit_probes.lines.measure import LineMeasurement
        except ImportError as error:
            raise Unavailable(f"line_profiler can't be imported ({error}): pip install line_profiler") from error
        measurement = LineMeasurement()
        chosen = choose(recording)
        for code in chosen.codes:
            measurement.add(code)
            recording.keep_source(code.co_filename)
        if chosen.missing:
            recording.note(f"no function named {', '.join(chosen.missing)} was found in the script or its modules")
        if not chosen.codes:
            raise Unavailable("no function of the script's own ran while the sampler looked")
        recording.append("choice", {"how": chosen.how, "functions": len(chosen.codes), "whole": chosen.whole})
        opening = running_frames(recording, get_ident())
        begin = now_ns()
        ends: list[tuple[int, list[tuple[str, int, str, int]]]] = []

        def note_end(thread: int) -> None:
            ends.append((now_ns(), running_frames(recording, thread)))

        with measurement.running(note_end):
            yield
        end, closing = ends[0 if measurement.displaced else -1]
        if measurement.displaced:
            recording.note(f"the script {measurement.displaced} in this window: what ran after that is missing")
        recording.append("window", {"ns": end - begin, "end_ns": end})
        for begun, ended in zip(opening, closing, strict=False):
            if begun[:2] != ended[:2]:
                break
            recording.append("spanning", [*begun, ended[3]])
        for row in measurement.rows():
            recording.append("functions", row)
        measurement.dump(recording.directory / "lines.lprof")

    def prepare(self, capture: Capture, /) -> None:
        """Read what of the trace the lines of graphs need."""
        from tfperfkit_probes.lines.graph.analysis import analyse
        from tfperfkit_probes.lines.tables import report  # noqa: F401

        analyse(capture)

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Tables by line, the functions that ran as graphs, and the lines that cost most."""
        from tfperfkit_probes.lines.offers import offers
        from tfperfkit_probes.lines.tables import report

        result = report(capture)
        steps = capture.window.steps if capture.window is not None else 0
        return msgspec.structs.replace(result, offers=(*offers(result.data, steps), *result.offers))
