"""For authors of probes: a recording and a capture in a temporary folder. For authors of rules: made-up evidence."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from tfperfkit.model import History, RunAccount, RunInfo, StepAccount, WarmUp, WindowSummary
from tfperfkit.option import effective
from tfperfkit.probe import FollowedGraphs, HotFunction
from tfperfkit.records.samples import SampleLog, Samples
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.step_callbacks import StepCallbacks
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import LIVE, Evidence, Offer, Offers
from tfperfkit.storage.run_directory import read_stream
from tfperfkit.storage.stream_writer import StreamWriter, encoder
from tfperfkit.user_code import Origin

if TYPE_CHECKING:
    from tfperfkit.instruments.graphs.sources import GraphSources


class FakeRecording:
    """A ``Recording`` on a folder. ``step`` can be set; ``begin_step`` also calls what was given to ``on_step``,
    as a session would.

    ``options`` are those that were given; of a ``probe`` (or its class) the others have their defaults.
    """

    def __init__(
        self,
        folder: Path,
        *,
        options: Mapping[str, Any] | None = None,
        planned_steps: int | None = None,
        asked: bool = False,
        hot: tuple[HotFunction, ...] = (),
        probe: object | None = None,
        gpu_required: bool = False,
    ) -> None:
        self._directory = folder / "probe"
        self._trace_dir = folder / "trace"
        self._directory.mkdir(parents=True, exist_ok=True)
        self._trace_dir.mkdir(parents=True, exist_ok=True)
        self._options = MappingProxyType(effective(probe, options or {}))
        self.gpu_required = gpu_required
        self._planned = planned_steps
        self.asked = asked
        self._hot = hot
        self._streams: dict[str, StreamWriter] = {}
        self._origin = Origin()
        self._steps = StepCallbacks(self._stopped)
        self._wanted = True
        self._step = 0
        self.notes: list[str] = []
        self.sources: dict[str, tuple[str, ...]] = {}
        self.codes: dict[HotFunction, CodeType] = {}
        self.session_streams: dict[str, list[Any]] = {}
        self.other_streams: dict[tuple[str, str], list[Any]] = {}  # of other probes: (probe, stream)
        self._graphs: GraphSources | None = None

    @property
    def directory(self) -> Path:
        return self._directory

    @property
    def trace_dir(self) -> Path:
        return self._trace_dir

    @property
    def options(self) -> Mapping[str, Any]:
        return self._options

    @property
    def step(self) -> int:
        return self._step

    @step.setter
    def step(self, number: int) -> None:
        self._step = number

    @property
    def planned_steps(self) -> int | None:
        return self._planned

    def begin_step(self, number: int) -> None:
        """Set ``step``, and call the probe if it wants this one, as a session does once all windows are given: a
        callback for each step is always called, a callback that asked ``rarely`` for the first 500 and for the step
        after a step for which it returned True.

        An exception of a callback becomes a note, and no callback is called again.
        """
        self._step = number
        if self._wanted:
            self._steps.announce(number)
        self._wanted = self._steps.wants_next(number)

    def now_and_then(self) -> None:
        """Do the work that a session does up to 20 times a second: the next step is announced to those who asked
        ``rarely`` too.
        """
        self._wanted = True

    def _stopped(self, error: BaseException) -> None:
        self.note(f"stopped following the steps: {type(error).__name__}: {error}")

    def append(self, stream: str, record: Any) -> None:
        """Raises what makes a record unwritable, at once: TypeError, ValueError (as UnicodeEncodeError of what is no
        UTF-8), RecursionError. A session marks the probe ``failed`` for it, when the record is written."""
        encoder.encode(record)
        if stream not in self._streams:
            self._streams[stream] = StreamWriter(self._directory / f"{stream}.jsonl")
            # Nobody ends a recording that is made up; at the interpreter's end its folder may be gone.
            weakref.finalize(self, self._streams[stream].close).atexit = False
        self._streams[stream].append(record)

    def flush(self) -> None:
        """Write what was appended so far."""
        for writer in self._streams.values():
            writer.flush()

    def on_step(self, callback: Callable[[int], bool | None], *, rarely: bool = False) -> None:
        self._steps.add(callback, rarely=rarely)
        self._wanted = True

    def when_keras(self, callback: Callable[[], object]) -> None:
        if "keras" in sys.modules:
            callback()

    def follow_graphs(
        self,
        listener: Callable[[Mapping[str, str], Any, int], None] | None = None,
        every_line: Callable[[Any], bool] | None = None,
    ) -> FollowedGraphs:
        from tfperfkit.instruments.graphs.sources import GraphSources

        if self._graphs is None:
            rows = self.session_streams.setdefault("graphs", [])
            self._graphs = GraphSources(
                lambda graph: rows.append(msgspec.json.decode(encoder.encode(graph))),
                lambda file: self.is_user_code(file),
                lambda file: self.keep_source(file),
            )
        return self._graphs.follow(listener, every_line)

    def is_user_code(self, filename: str) -> bool:
        return self._origin.is_user(filename)

    def hot_functions(self) -> tuple[HotFunction, ...]:
        return self._hot

    def code(self, function: HotFunction) -> CodeType | None:
        return self.codes.get(function)

    def keep_source(self, filename: str) -> None:
        if filename not in self.sources:
            try:
                self.sources[filename] = tuple(Path(filename).read_text().splitlines())
            except (OSError, UnicodeDecodeError):
                return

    def note(self, text: str) -> None:
        self.notes.append(text)


class FakeCapture:
    """A ``Capture`` over what a ``FakeRecording`` left behind. Made by ``capture_of``."""

    def __init__(self, recording: FakeRecording, steps: StepTable, run: RunInfo, window: WindowSummary | None) -> None:
        self._recording, self._steps, self._run, self._window = recording, steps, run, window

    @property
    def directory(self) -> Path:
        return self._recording.directory

    @property
    def trace_dir(self) -> Path:
        return self._recording.trace_dir

    @property
    def options(self) -> Mapping[str, Any]:
        return self._recording.options

    @property
    def gpu_required(self) -> bool:
        return self._recording.gpu_required

    @property
    def run(self) -> RunInfo:
        return self._run

    @property
    def steps(self) -> StepTable:
        return self._steps

    @property
    def window(self) -> WindowSummary | None:
        return self._window

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._recording.notes)

    def records(self, stream: str, probe: str = "") -> Iterator[Any]:
        if probe:
            return iter(self._recording.other_streams.get((probe, stream), ()))
        return read_stream(self.directory / f"{stream}.jsonl")

    def session_records(self, stream: str) -> Iterator[Any]:
        return iter(self._recording.session_streams.get(stream, ()))

    def source(self, filename: str) -> tuple[str, ...]:
        return self._recording.sources.get(filename, ())


def capture_of(
    recording: FakeRecording,
    *,
    steps: StepTable | None = None,
    run: RunInfo | None = None,
    window: WindowSummary | None = None,
) -> FakeCapture:
    """Return the argument of ``analyze`` after ``recording``.

    Without ``steps`` the run had none that could be found.
    """
    recording.flush()
    run = run or RunInfo(argv=("train.py",), exit_code=0, status="finished", directory=str(recording.directory))
    return FakeCapture(recording, steps or StepTable(), run, window)


def even_steps(count: int, duration_ns: int, *, begin_ns: int = 0, warmup: int = 0) -> StepTable:
    """Return a table of steps of one length."""
    steps = []
    for number in range(1, count + 1):
        begin = begin_ns + (number - 1) * duration_ns
        window = "warmup" if number <= warmup else "clean"
        steps.append(Step(number, begin, begin + duration_ns, window=window))
    return StepTable(steps=tuple(steps), source="custom", definition="made for a test")


def evidence_of(
    *,
    steps: StepTable | None = None,
    account: StepAccount | None = None,
    warm_up: WarmUp | None = None,
    samples: Samples | None = None,
    log: SampleLog | None = None,
    settings: Mapping[str, Any] | None = None,
    machine_gflops: float | None = None,
    tracing: Sequence[Span] = (),
    collections: Sequence[Span] = (),
    data: Mapping[str, Any] | None = None,
    offers: Mapping[str, Sequence[Any]] | None = None,
    sources: Mapping[str, str] | None = None,
    records: Mapping[str, Sequence[Any]] | None = None,
    machine: Mapping[str, Any] | None = None,
    wall_s: float = 60.0,
    run_account: RunAccount | None = None,
    history: History | None = None,
) -> Evidence:
    """Make the ``Evidence`` for a rule's test, with only what is given.

    ``data`` holds each probe's record by its name, as the probe returned it or as builtins; ``offers`` what each offers
    besides; ``sources`` the text of the user's files; ``records`` the session's streams.
    """
    streams = records or {}
    offered = [(probe, each) for probe, made in (offers or {}).items() for each in made]
    offered += [(probe, record) for probe, record in (data or {}).items() if not isinstance(record, Mapping)]
    return Evidence(
        run=RunInfo(
            argv=("train.py",),
            exit_code=0,
            status="finished",
            wall_s=wall_s,
            machine={"cpus": 2, "devices": ["/device:CPU:0"], **(machine or {})},
        ),
        steps=steps or StepTable(),
        account=account,
        warm_up=warm_up,
        samples=samples or Samples(),
        log=log or SampleLog({}, ()),
        settings=settings or {},
        machine_gflops=machine_gflops,
        tracing=Spans(tracing),
        collections=Spans(collections),
        data=msgspec.to_builtins(dict(data or {})),
        sources={file: tuple(text.splitlines()) for file, text in (sources or {}).items()},
        records=lambda stream: streams.get(stream, ()),
        offers=Offers(
            Offer(probe, type(each), each if isinstance(each, LIVE) else msgspec.to_builtins(each))
            for probe, each in offered
        ),
        run_account=run_account,
        history=history,
    )
