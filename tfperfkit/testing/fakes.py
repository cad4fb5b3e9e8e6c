"""For authors of probes and rules: a recording and a capture on a temporary folder, the checks of the contract, made-up
evidence."""

from __future__ import annotations

import inspect
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import Any

import msgspec

from tfperfkit.errors import ProbeError, Unavailable, UsageError
from tfperfkit.model import ProbeResult, RunAccount, RunInfo, StepAccount, WarmUp, WindowSummary
from tfperfkit.option import Declared, convert, effective, option_problem, spelling
from tfperfkit.probe import API_VERSION, Capture, Cost, HotFunction, Probe, Recording, WindowWish
from tfperfkit.records.samples import SampleLog, Samples
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.step_callbacks import StepCallbacks
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence, Offer, Offers
from tfperfkit.storage.run_directory import read_stream
from tfperfkit.storage.stream_writer import StreamWriter
from tfperfkit.user_code import Origin

_CODE = re.compile(r"[A-Z]{2,8}\d{3}")


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
        """Set ``step``, and tell the probe if it wants to know of this one, as a session does once all windows are
        given: a callback for each step is told always, one that asked ``rarely`` of the first 500 and of the one after
        a step for which it returned True. What a callback raises becomes a note, and none is called again."""
        self._step = number
        if self._wanted:
            self._steps.announce(number)
        self._wanted = self._steps.wants_next(number)

    def now_and_then(self) -> None:
        """What a session does up to 20 times a second: the next step is told to those who asked ``rarely`` too."""
        self._wanted = True

    def _stopped(self, error: BaseException) -> None:
        self.note(f"stopped following the steps: {type(error).__name__}: {error}")

    def append(self, stream: str, record: Any) -> None:
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

    def records(self, stream: str) -> Iterator[Any]:
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
    """What ``analyze`` is given after ``recording``. Without ``steps`` the run had none that could be found."""
    recording.flush()
    run = run or RunInfo(argv=("train.py",), exit_code=0, status="finished", directory=str(recording.directory))
    return FakeCapture(recording, steps or StepTable(), run, window)


def even_steps(count: int, duration_ns: int, *, begin_ns: int = 0, warmup: int = 0) -> StepTable:
    """A table of steps of one length."""
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
) -> Evidence:
    """The ``Evidence`` of a rule's test: only what is given is there.

    ``data`` holds each probe's record by its name, as the probe returned it or as builtins; ``offers`` what each offers
    besides; ``sources`` the text of the person's files; ``records`` the session's streams.
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
        offers=Offers(Offer(probe, type(each), msgspec.to_builtins(each)) for probe, each in offered),
        run_account=run_account,
    )


def check_probe(probe_class: Callable[[], Probe], folder: Path) -> ProbeResult:
    """Check the contract of a probe, on ``folder`` (empty, writable); raises ``ProbeError`` saying what is broken.

    Attributes, options and the window's wish; ``record`` enters, exits, leaves no hook or thread behind and does not
    import TensorFlow where the script has not (it may raise ``Unavailable`` with a reason); ``analyze`` of a capture
    without any record gives a ``ProbeResult`` that encodes as JSON. Returns that result.
    """
    probe = probe_class()
    _check_attributes(probe)
    recording = FakeRecording(folder, planned_steps=3 if probe.cost is Cost.WINDOW else None, probe=probe)
    assert_recording: Recording = recording  # the fakes must keep to the contract themselves
    _check_record(probe, assert_recording)
    empty = FakeRecording(folder / "empty", probe=probe)
    capture: Capture = capture_of(empty)
    result = probe_class().analyze(capture)
    check_result(result)
    return result


def _check_attributes(probe: Probe) -> None:
    name = type(probe).__name__
    _require(isinstance(probe, Probe), f"{name} lacks one of api, name, cost, claims, record, analyze")
    _require(probe.api == API_VERSION, f"{name}.api is {probe.api!r}; this version speaks {API_VERSION}")
    _require(
        isinstance(probe.name, str) and re.fullmatch(r"[a-z][a-z0-9_-]*", probe.name) is not None,
        f"{name}.name must be a lower-case word, not {probe.name!r}",
    )
    _require(isinstance(probe.cost, Cost), f"{name}.cost must be a Cost")
    _require(isinstance(probe.claims, frozenset), f"{name}.claims must be a frozenset")
    _check_options(probe, name)
    wish = getattr(probe, "window", None)
    if wish is not None:
        _require(isinstance(wish, WindowWish), f"{name}.window must be a WindowWish")
        _require(probe.cost is Cost.WINDOW, f"{name}.window is for a probe of Cost.WINDOW")
    for verb in ("record", "analyze"):
        parameters = inspect.signature(getattr(probe, verb)).parameters.values()
        needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        _require(len(needed) == 1, f"{name}.{verb} must take one argument, the context")


def _check_options(probe: Probe, name: str) -> None:
    options = getattr(probe, "options", ())
    _require(isinstance(options, tuple), f"{name}.options must be a tuple of Option")
    for option in options:
        problem = option_problem(probe.name, option, ours=type(probe).__module__.startswith("tfperfkit_probes."))
        _require(problem is None, f"{name} {problem}")
        _require(bool(option.help), f"{name}: the option {option.name} needs a help text")
        if option.default is not None:
            declared = Declared(probe.name, option, spelling(probe.name, option))
            try:
                convert(declared, option.default, f"the default of {option.name}", Path())
            except UsageError as error:
                raise ProbeError(f"{name}: {error}") from error
    names = [option.name for option in options]
    _require(len(set(names)) == len(names), f"{name} has two options of one name")


def _check_record(probe: Probe, recording: Recording) -> None:
    before = _hooks()
    imported = "tensorflow" in sys.modules
    try:
        manager: AbstractContextManager[None] = probe.record(recording)
        with manager:
            pass
    except Unavailable as reason:
        _require(bool(str(reason)), f"{probe.name}: Unavailable must say why")
    late = "raise Unavailable when it is not in sys.modules"
    _require(imported or "tensorflow" not in sys.modules, f"{probe.name}.record imports TensorFlow itself: {late}")
    after = _hooks()
    left = sorted(name for name, value in before.items() if name in after and after[name] != value)
    _require(not left, f"{probe.name}.record leaves hooks behind: {', '.join(left)}")


def _hooks() -> dict[str, Any]:
    """What a probe could leave behind, as comparable values."""
    found: dict[str, Any] = {
        "sys.settrace": id(sys.gettrace()),
        "sys.setprofile": id(sys.getprofile()),
        "sys.excepthook": id(sys.excepthook),
        "sys.meta_path": [id(finder) for finder in sys.meta_path],
        "threads": sorted(thread.name for thread in threading.enumerate()),
    }
    for module, attribute in (
        ("tensorflow.python.eager.polymorphic_function.tracing_compilation", "_create_concrete_function"),
        ("tensorflow.python.eager.polymorphic_function.polymorphic_function", "Function.__call__"),
        ("tensorflow.python.data.ops.iterator_ops", "OwnedIterator.__next__"),
        ("tensorflow.python.util.traceback_utils", "_EXCLUDED_PATHS"),
        ("keras.src.utils.traceback_utils", "_EXCLUDED_PATHS"),
        ("keras.src.callbacks.callback_list", "CallbackList.on_train_batch_begin"),
        ("keras.src.callbacks.callback_list", "CallbackList.on_train_batch_end"),
        ("keras.src.optimizers.base_optimizer", "BaseOptimizer.apply"),
    ):
        value: Any = sys.modules.get(module)
        if value is None:
            continue
        for part in attribute.split("."):
            value = getattr(value, part, None)
        found[f"{module}.{attribute}"] = value if isinstance(value, tuple) else id(value)
    transform = sys.modules.get("tensorflow.python.eager.polymorphic_function.transform")
    if transform is not None:
        found["CONCRETE_FUNCTION_CALLBACKS"] = len(getattr(transform, "CONCRETE_FUNCTION_CALLBACKS", ()))
    return found


def check_result(result: ProbeResult) -> None:
    """Check what ``analyze`` returned; raises ``ProbeError`` saying what is broken."""
    _require(isinstance(result, ProbeResult), f"analyze must return a ProbeResult, not {type(result).__name__}")
    try:
        data = msgspec.json.decode(msgspec.json.encode(result))["data"]
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise ProbeError(f"the result can't be encoded as JSON: {error}") from error
    _require(isinstance(data, dict), "data must encode to a JSON object")
    kinds = [type(offer) for offer in result.offers]
    _require(len(set(kinds)) == len(kinds), "of one type there is one offer")
    for offer in result.offers:
        try:
            msgspec.convert(msgspec.to_builtins(offer, str_keys=True), type(offer), strict=False)
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise ProbeError(f"the offer {type(offer).__name__} is not what it says: {error}") from error
    for table in result.tables:
        for row in table.rows:
            same = len(row) == len(table.columns)
            _require(same, f"table {table.title!r}: a row has another length than the columns")
    for finding in result.findings:
        code = finding.code
        _require(_CODE.fullmatch(code) is not None, f"finding code {code!r}: letters and three digits, like RET002")
        _require(bool(finding.evidence), f"{code}: evidence is empty")
        _require(bool(finding.title and finding.advice), f"{code}: a finding needs a title and advice")
        _require(0 <= finding.share_of_step <= 1, f"{code}: share_of_step is {finding.share_of_step}, not 0 to 1")
        speedup = finding.predicted_speedup
        _require(speedup is None or speedup >= 1, f"{code}: predicted_speedup is {speedup}, less than 1")


def missing_pages(codes: Mapping[str, str] | frozenset[str], docs: Path) -> list[str]:
    """The codes that have no page ``<docs>/<code>.md``."""
    return sorted(code for code in codes if not (docs / f"{code}.md").is_file())


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ProbeError(message)
