"""From a trace to records on disk: the graph at its end, and what its first execution shows."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from tfperfkit.clock import NS_PER_S
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.graphs import (
    autograph_xla,
    first_run,
    same_arguments,
    session_runs,
    snapshot,
    tracing,
)
from tfperfkit.instruments.graphs.tracing import Traced
from tfperfkit.probe import FollowedGraphs, Recording
from tfperfkit.records.graph_contents import CallsRecord, SessionRun
from tfperfkit_probes.ops.stored import (
    MAX_FUNCTIONS,
    AutographRecord,
    FirstRunRecord,
    FunctionRecord,
    VariableRecord,
    XlaRecord,
)
from tfperfkit_probes.tensor_types import Names, leaves
from tfperfkit_probes.traced_function import Definition, definition

FUNCTIONS, FIRST_RUNS, AUTOGRAPH, XLA = "functions", "first_runs", "autograph", "xla"
CALLS, SESSIONS = "calls", "sessions"
_KEPT_ARGUMENTS = 60
_KEPT_VARIABLES = 2000
#: The graph of a session is read when a place runs it so often: before that a script may still add to it. Or, after one
#: run that takes so long, before the next: there may be few.
_SETTLED_RUNS = 8
_LONG_RUN_NS = NS_PER_S // 2


class Recorder:
    """The listener of the tracing instrument. Keeps names and weak references only."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        options = recording.options
        self._dump = str(options.get("dump") or "")
        self._autograph = str(options.get("autograph") or "")
        self._xla = bool(options.get("xla"))
        self._lock = threading.Lock()
        self._functions = 0
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._converted: set[tuple[str, int]] = set()
        self._said: set[str] = set()
        self._places: dict[tuple[str, str, int], int] = {}  # when a place last ran a session
        self._read: set[str] = set()  # graphs of sessions
        self.graphs: FollowedGraphs | None = None
        self._listeners: list[Callable[..., None]] = []
        self._followed: list[Callable[[], None]] = []

    def __call__(self, traced: Traced) -> None:
        try:
            if traced.limits:
                self.say(f"{traced.limits}; the operations of functions are not recorded")
            elif traced.concrete is not None and not traced.exporting:
                self._record(traced)
        except Exception as error:
            self.say(f"a function could not be described ({type(error).__name__}: {error})")

    def ran(self, run: session_runs.Run) -> None:
        """Note that a session is about to run."""
        name = f"session {run.number}"
        made = SessionRun(
            graph=name,
            file=run.file,
            line=run.line,
            thread=run.thread,
            begin_ns=run.begin_ns,
            fetched=run.fetched,
            feeds=run.feeds,
            shapes=run.shapes,
        )
        self._recording.append(SESSIONS, made)
        place = (name, run.file, run.line)
        long = run.begin_ns - self._places.get(place, run.begin_ns) >= _LONG_RUN_NS
        self._places[place] = run.begin_ns
        if (long or run.calls == _SETTLED_RUNS) and name not in self._read and self.graphs is not None:
            self._read.add(name)
            self.graphs.record(run.graph, name)

    def close(self) -> None:
        """Take what waits for executions off the functions, and say what could not be seen."""
        for limit in self.graphs.end() if self.graphs is not None else ():
            self.say(limit)
        for listener in self._listeners:
            first_run.forget(listener)
        for end in self._followed:
            end()

    def wants_every_line(self, traced: Traced) -> bool:
        """Whether all operations of this trace are to be listed with their lines."""
        if not self._dump:
            return False
        _, found = _definition(traced)
        return self._dump in (found.function, found.qualname)

    def say(self, text: str) -> None:
        """Note a limit, once."""
        if not any(said.startswith(text) for said in self._said):
            self._said.add(text)
            self._recording.note(text)

    def _record(self, traced: Traced) -> None:
        python_function, found = _definition(traced)
        if found.owner not in ("user", "keras"):
            return
        if self._functions >= MAX_FUNCTIONS:
            self.say(f"only the first {self._functions} concrete functions were recorded")
            return
        name = traced.concrete.name
        name = name.decode() if isinstance(name, bytes) else str(name)
        with self._lock:
            self._functions += 1
        self._recording.append(FUNCTIONS, self._describe_function(traced, found, name))
        if found.file and self._recording.is_user_code(found.file):
            self._recording.keep_source(found.file)
        self._convert(found, python_function)
        jit = first_run.jit_compiled(traced)
        self._await_first_run(
            traced.concrete,
            name,
            "XLA compiles the whole function, without Grappler" if jit else "",
            # A function of one's own, or a model of Keras' that was handed to tf.function: no part of another one.
            (found.owner == "user" or not traced.outer_id) and not jit,
        )

    def _describe_function(self, traced: Traced, found: Definition, name: str) -> FunctionRecord:
        graph, concrete = traced.func_graph, traced.concrete
        names = Names(getattr(traced.tracing_options, "polymorphic_type", None), found.parameters)
        arguments = [leaf.argument for leaf in leaves(traced.function_type, names).values()][:_KEPT_ARGUMENTS]
        captured = [(str(t.dtype.name), _shape(t)) for t, _ in graph.captures if t.dtype.name != "resource"]
        return FunctionRecord(
            graph=name,
            trace_id=traced.id,
            outer_id=traced.outer_id,
            begin_ns=traced.begin_ns,
            end_ns=traced.end_ns,
            self_ns=traced.self_ns,
            step=self._recording.step,
            function=found.function,
            qualname=found.qualname,
            file=found.file,
            line=found.line,
            owner=found.owner,
            arguments=arguments,
            results=[_type(t) for t in concrete.outputs],
            captured=[snapshot.type_text(dtype, shape) for dtype, shape in captured],
            captured_bytes=sum(_bytes(t) or 0 for t, _ in graph.captures if t.dtype.name != "resource"),
            variables=_variables(graph),
            created=_created(traced),
            jit_compile=first_run.jit_compiled(traced),
            function_object=self._number(traced.identity),
            frames=list(traced.frames),
            in_replica=traced.in_replica,
        )

    def _number(self, identity: Any) -> int:
        if identity is None:
            return 0
        return self._numbers.setdefault(identity, len(self._numbers) + 1)

    def _convert(self, found: Definition, python_function: Any) -> None:
        place = (found.file, found.line)
        if self._autograph not in (found.function, found.qualname) or not self._autograph or place in self._converted:
            return
        self._converted.add(place)
        code = autograph_xla.autograph_code(python_function)
        self._recording.append(AUTOGRAPH, AutographRecord(function=found.function, qualname=found.qualname, code=code))

    def _await_first_run(self, concrete: Any, name: str, not_collected: str, followed: bool) -> None:
        def listener(run: first_run.FirstRun) -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)
            self._first_run(run, name, not_collected)
            if followed and run.error is None:
                self._follow(run, name)

        self._listeners.append(listener)
        try:
            first_run.on_first_run(concrete, listener, collect=not not_collected)
        except Unavailable as error:
            self._listeners.remove(listener)
            self.say(str(error))

    def _follow(self, run: first_run.FirstRun, name: str) -> None:
        """Look at the arguments of the calls that follow."""

        def ended(found: same_arguments.Compared) -> None:
            record = CallsRecord(
                graph=name,
                calls=found.calls,
                same=found.same,
                grown=found.grown,
                padding=found.padding,
                zeros=found.zeros,
            )
            self._recording.append(CALLS, record)

        end = same_arguments.follow(run.concrete, run.arguments, ended)
        if end is not None:
            self._followed.append(end)

    def _first_run(self, run: first_run.FirstRun, name: str, not_collected: str) -> None:
        self._recording.append(
            FIRST_RUNS,
            FirstRunRecord(
                graph=name,
                begin_ns=run.begin_ns,
                end_ns=run.end_ns,
                error=run.error,
                reason=not_collected or run.reason,
                shapes=[
                    list(shape) if (shape := _shape(t)) is not None else None for t in run.arguments[:_KEPT_ARGUMENTS]
                ],
                optimized=snapshot.optimized(run.graphs) if run.graphs is not None else None,
            ),
        )
        if self._xla and run.error is None:
            view = autograph_xla.xla_view(run.concrete, run.arguments, optimized=True)
            self._recording.append(XLA, XlaRecord(graph=name, view=view))


def _definition(traced: Traced) -> tuple[Any, Definition]:
    """The Python function that was traced, and where it is defined."""
    python_function = traced.python_function
    if traced.function is not None:
        python_function = getattr(traced.function, "python_function", python_function)
    return python_function, definition(python_function, str(getattr(traced.tracing_options, "name", "")))


def _variables(graph: Any) -> list[VariableRecord]:
    slots = {id(handle): internal.op.name for handle, internal in getattr(graph, "captures", ())}
    found = []
    for variable in list(getattr(graph, "variables", ()))[:_KEPT_VARIABLES]:
        name = str(getattr(variable, "path", "") or getattr(variable, "name", ""))
        trainable = bool(getattr(variable, "trainable", False))
        key = str(getattr(variable, "_unique_id", ""))
        slot = slots.get(id(getattr(variable, "handle", None)), "")
        device = str(getattr(variable, "device", ""))
        server = device if "/job:ps/" in device else ""
        found.append(VariableRecord(name, _type(variable), _bytes(variable), trainable, key, slot, server))
    return found


def _created(traced: Traced) -> list[str]:
    """Variables that the function made in this trace; TensorFlow allows it in the first one only."""
    if traced.cached or traced.function is None:
        return []
    references = getattr(traced.function, "_created_variables", None) or ()
    made = (reference() if callable(reference) else reference for reference in references)
    return [str(getattr(variable, "name", "variable")) for variable in made if variable is not None]


def _shape(tensor: Any) -> tuple[int, ...] | None:
    try:
        shape = tensor.shape
        return tuple(-1 if size is None else int(size) for size in shape) if shape.rank is not None else None
    except (AttributeError, TypeError, ValueError):
        return None


def _type(tensor: Any) -> str:
    return snapshot.type_text(str(tensor.dtype.name), _shape(tensor))


def _bytes(tensor: Any) -> int | None:
    shape = _shape(tensor)
    if shape is None or any(size < 0 for size in shape):
        return None
    size = getattr(tensor.dtype, "size", 0) or 0
    for dimension in shape:
        size *= dimension
    return int(size)


@contextlib.contextmanager
def recorded(recording: Recording) -> Iterator[None]:
    """Read each graph when it has been traced and when it is first executed, and what sessions run. Raises
    ``Unavailable`` without a known seam."""
    recorder = Recorder(recording)
    with contextlib.ExitStack() as seams:
        seams.callback(recorder.close)
        seams.callback(tracing.subscribe(recorder))
        recorder.graphs = recording.follow_graphs(every_line=recorder.wants_every_line)
        try:
            seams.callback(session_runs.subscribe(recorder.ran, recording.is_user_code))
        except Unavailable as error:
            recording.note(f"what sessions fetch can't be seen ({error})")
        yield
