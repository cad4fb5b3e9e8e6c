"""The seam on the tracing of tf.functions: one event for each trace, nothing on the steady path.

TensorFlow looks up ``tracing_compilation._create_concrete_function`` only on a cache miss, so a replacement runs
once per trace, also for functions that were made before it was installed.

An event holds live objects of TensorFlow: a listener must not keep them after it returns (weak references are fine).
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import sys
import threading
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

from tfperfkit import clock
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.hooks import frames
from tfperfkit.instruments.hooks.frame_locals import local
from tfperfkit.instruments.hooks.notes import remark
from tfperfkit.instruments.stacks import call_site
from tfperfkit.model import SourceSpan

_COUNTED = "traces are counted, but their arguments, causes and times are not known"
_PARAMETERS = ["function_type", "type_context", "func_graph", "tracing_options"]


@dataclasses.dataclass(frozen=True, eq=False)
class CacheEntry:
    """A trace that the function held when it missed: the key's two parts and the ConcreteFunction."""

    context: Any
    function_type: Any
    concrete: Any


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Traced:
    """One trace that has just ended, well or badly. Times are ``clock.now_ns``.

    With ``limits`` (a reason in words) only ``concrete``, ``func_graph``, ``end_ns``, ``frames`` and ``thread`` are
    known: this TensorFlow shows no more.
    """

    id: int  # from 1, in the order of beginning
    outer_id: int | None = None  # the trace that this one was part of
    begin_ns: int
    end_ns: int
    self_ns: int  # without the traces nested in it
    thread: int
    python_function: Any = None
    function: Any = None  # the polymorphic Function, None if it was not found
    concrete: Any = None  # None when the trace failed
    func_graph: Any = None
    tracing_options: Any = None
    function_type: Any = None  # what was traced: the generalised type under reduce_retracing
    lookup_type: Any = None  # what the call asked for
    context: Any = None  # FunctionContext of the call
    cached: tuple[CacheEntry, ...] = ()  # before this trace, oldest first
    error: str | None = None  # the exception's type
    frames: tuple[SourceSpan, ...] = ()  # innermost first
    outer: Any = None  # the Python function of the enclosing trace
    in_replica: bool = False
    exporting: bool = False  # on behalf of a SavedModel or another export
    limits: str = ""

    @property
    def identity(self) -> Any:
        """An object that lives as long as the Function does and can be a weak key; None if there is none."""
        return getattr(self.tracing_options, "function_captures", None)


Listener = Callable[[Traced], None]
Beginner = Callable[[], None]
#: Given the trace and the time at which all listeners had finished with it.
Finisher = Callable[[Traced, int], None]


class _Open:
    """A trace that is running."""

    __slots__ = ("begin_ns", "facts", "filter", "graph", "id", "nested_ns", "outer", "python_function")

    def __init__(self, graph: Any, options: Any) -> None:
        self.id = next(_ids)
        self.graph = graph
        self.python_function = getattr(options, "python_function", None)
        self.outer = _enclosing(graph)
        self.nested_ns = 0
        self.filter: Any = None
        self.facts: dict[str, Any] = {}
        self.begin_ns = 0


_lock = threading.RLock()
_listeners: tuple[Listener, ...] = ()
_beginners: tuple[Beginner, ...] = ()
_finishers: tuple[Finisher, ...] = ()
_restore: Callable[[], None] | None = None
_limits = ""
_trouble = ""  # why a trace could not be described, though the seam is there
_spent_ns = 0
_ids = itertools.count(1)
_running: dict[int, _Open] = {}  # by id() of the FuncGraph, which lives as long as the entry
_local = threading.local()


def subscribe(
    listener: Listener, begins: Beginner | None = None, finishes: Finisher | None = None
) -> Callable[[], None]:
    """Call ``listener`` after each trace, on the thread that traced; returns what ends that.

    ``begins`` is called as each trace begins, nested ones included; never where ``limits`` holds. ``finishes`` is
    called when all listeners have returned. The first listener
    installs the hook and the last one to leave removes it. Exceptions that a listener raises are dropped.
    Raises ``Unavailable`` when TensorFlow is not imported or has no seam that we know.
    """
    global _listeners, _beginners, _finishers
    with _lock:
        if _restore is None:
            _install()
        _listeners = (*_listeners, listener)
        if begins is not None:
            _beginners = (*_beginners, begins)
        if finishes is not None:
            _finishers = (*_finishers, finishes)

    def unsubscribe() -> None:
        global _listeners, _beginners, _finishers
        with _lock:
            if listener in _listeners:
                remaining = list(_listeners)
                remaining.remove(listener)
                _listeners = tuple(remaining)
                _beginners = tuple(item for item in _beginners if item is not begins)
                _finishers = tuple(item for item in _finishers if item is not finishes)
                if not _listeners:
                    _remove()

    return unsubscribe


def running() -> bool:
    """Return whether a trace is under way on any thread."""
    return bool(_running)


def limits() -> str:
    """Return why events carry no arguments and no cause in this TensorFlow; empty when they do."""
    return _limits


def tells_functions() -> bool:
    """Return whether events name the Function that was traced: not where ``limits`` hold, and not without a
    listener."""
    return _restore is not None and not _limits and not _trouble


def spent_ns() -> int:
    """Time that the hook and its listeners have taken so far, in nanoseconds."""
    return _spent_ns


def _install() -> None:
    global _restore, _limits
    if "tensorflow" not in sys.modules:
        raise Unavailable("TensorFlow is not imported, so there are no tf.functions to watch")
    reason = _try_seam()
    if reason:
        if not _try_callbacks():
            raise Unavailable(f"traces can't be seen in this TensorFlow: {reason}")
        _limits = f"this TensorFlow is not known: {reason}; {_COUNTED}"
    frames.hide_own_frames()


def _remove() -> None:
    global _restore, _limits, _trouble
    if _restore is not None:
        _restore()
    _restore, _limits, _trouble = None, "", ""
    frames.show_own_frames()


def _try_seam() -> str:
    """Install on the seam; returns why that was not possible."""
    global _restore
    try:
        from tensorflow.python.eager.polymorphic_function import tracing_compilation as seam

        original = seam._create_concrete_function
        parameters = list(inspect.signature(original).parameters)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        return f"it has no function _create_concrete_function that tfperf knows ({type(error).__name__})"
    if parameters != _PARAMETERS or not isinstance(original, FunctionType):
        return f"its _create_concrete_function takes other arguments ({', '.join(parameters)})"
    hook = _wrap(original)
    seam._create_concrete_function = hook

    def restore() -> None:
        # Another tool may have wrapped ours: then ours stays beneath it and only passes calls on.
        if seam._create_concrete_function is hook:
            seam._create_concrete_function = original

    _restore = restore
    return ""


def _try_callbacks() -> bool:
    global _restore
    try:
        from tensorflow.python.eager.polymorphic_function import transform

        callbacks = transform.CONCRETE_FUNCTION_CALLBACKS
        callbacks.append(_on_concrete)
    except (ImportError, AttributeError):
        return False

    def restore() -> None:
        if _on_concrete in callbacks:
            callbacks.remove(_on_concrete)

    _restore = restore
    return True


def _wrap(original: Callable[..., Any]) -> Callable[..., Any]:
    def _create_concrete_function(function_type: Any, type_context: Any, func_graph: Any, tracing_options: Any) -> Any:
        if not _listeners:
            return original(function_type, type_context, func_graph, tracing_options)
        opened = _begin(function_type, func_graph, tracing_options)
        try:
            concrete = original(function_type, type_context, func_graph, tracing_options)
        except BaseException as error:
            _end(opened, None, type(error).__name__)
            error.__traceback__ = frames.without_own_head(error.__traceback__)
            raise
        _end(opened, concrete, None)
        return concrete

    if sys.version_info < (3, 11):
        # There a bare ``raise`` puts our frame back: under TensorFlow's own file name every filter leaves it out.
        code = _create_concrete_function.__code__
        _create_concrete_function.__code__ = code.replace(co_filename=original.__code__.co_filename)
    return _create_concrete_function


def _begin(function_type: Any, func_graph: Any, options: Any) -> _Open | None:
    global _spent_ns, _trouble
    started = clock.now_ns()
    try:
        opened = _Open(func_graph, options)
        opened.facts = _facts(sys._getframe(2), function_type, options)
        frames.hide_own_frames()
        try:
            opened.filter = frames.operation_stack_filter()
            opened.filter.__enter__()
        except Exception as error:
            opened.filter = None
            words = f"{type(error).__name__}: {error}"
            remark(f"TensorFlow's messages about operations may show a line of tfperf ({words})")
        _running[id(func_graph)] = opened
        _stack().append(opened)
    except Exception as error:
        words = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
        _trouble = f"this TensorFlow is not known: its traces can't be read ({words}); {_COUNTED}"
        return None
    for begins in _beginners:
        try:
            begins()
        except Exception:
            continue
    opened.begin_ns = clock.now_ns()
    _spent_ns += opened.begin_ns - started
    return opened


def _end(opened: _Open | None, concrete: Any, error: str | None) -> None:
    global _spent_ns
    if opened is None:
        if concrete is not None:
            _on_concrete(concrete)
        return
    ended = clock.now_ns()
    try:
        if opened.filter is not None:
            opened.filter.__exit__(None, None, None)
        _running.pop(id(opened.graph), None)
        stack = _stack()
        while stack and stack.pop() is not opened:
            pass
        outer = opened.outer
        if outer is not None:
            outer.nested_ns += ended - opened.begin_ns
        traced = Traced(
            id=opened.id,
            outer_id=outer.id if outer else None,
            outer=outer.python_function if outer else None,
            begin_ns=opened.begin_ns,
            end_ns=ended,
            self_ns=max(0, ended - opened.begin_ns - opened.nested_ns),
            thread=threading.get_ident(),
            python_function=opened.python_function,
            concrete=concrete,
            func_graph=opened.graph,
            error=error,
            in_replica=call_site.in_replica_thread(),
            **opened.facts,
        )
        _notify(traced)
    except Exception:
        pass
    _spent_ns += clock.now_ns() - ended


def _notify(traced: Traced) -> None:
    for listener in _listeners:
        try:
            listener(traced)
        except Exception:
            continue  # a listener's fault must not reach the script
    finished = clock.now_ns()
    for finishes in _finishers:
        try:
            finishes(traced, finished)
        except Exception:
            continue


def _facts(caller: FrameType, function_type: Any, options: Any) -> dict[str, Any]:
    """Return the facts before the trace runs. ``caller`` is the frame of ``_maybe_define_function``."""
    cache = getattr(options, "function_cache", None)
    entries = dict(cache._primary) if cache is not None else {}
    return {
        "tracing_options": options,
        "function_type": function_type,
        "lookup_type": local(caller, "lookup_func_type", function_type),
        "context": local(caller, "current_func_context"),
        "cached": tuple(CacheEntry(key[0], key[1], concrete) for key, concrete in entries.items()),
        "function": _function_of(caller, cache),
        "frames": call_site.user_frames(caller),
        "exporting": _exporting(caller),
    }


def _function_of(frame: FrameType | None, cache: Any) -> Any:
    """Return the polymorphic Function that owns this cache, from the frames of its methods further out."""
    for _ in range(16):
        if frame is None or cache is None:
            return None
        if frame.f_code.co_filename.endswith("polymorphic_function.py"):
            owner = local(frame, "self")
            if getattr(owner, "_function_cache", None) is cache:
                return owner
        frame = frame.f_back
    return None


def _exporting(frame: FrameType | None) -> bool:
    while frame is not None:
        name = frame.f_code.co_filename
        if "save" in name or "export" in name:
            name = name.replace("\\", "/")
            if "/tensorflow/python/saved_model/save" in name or "/keras/src/export/" in name:
                return True
        frame = frame.f_back
    return False


def _enclosing(graph: Any) -> _Open | None:
    """Return the trace around this one, through ``outer_graph``: replica threads have no stack of their own to ask.

    Initialisers of variables are traced outside of the enclosing graph; there this thread's stack tells.
    """
    outer, depth = getattr(graph, "outer_graph", None), 0
    while outer is not None and depth < 64:
        if id(outer) in _running:
            return _running[id(outer)]
        outer, depth = getattr(outer, "outer_graph", None), depth + 1
    stack = _stack()
    return stack[-1] if stack else None


def _stack() -> list[_Open]:
    stack: list[_Open] | None = getattr(_local, "stack", None)
    if stack is None:
        stack = _local.stack = []
    return stack


def _on_concrete(concrete: Any) -> None:
    try:
        now = clock.now_ns()
        _notify(
            Traced(
                id=next(_ids),
                begin_ns=now,
                end_ns=now,
                self_ns=0,
                thread=threading.get_ident(),
                concrete=concrete,
                func_graph=getattr(concrete, "graph", None),
                frames=call_site.user_frames(sys._getframe(1)),
                limits=_limits or _trouble,
            )
        )
    except Exception:
        pass
