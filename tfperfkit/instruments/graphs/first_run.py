"""Watch the first execution of a concrete function: its duration, and the graphs that TensorFlow made.

``on_first_run`` puts an attribute on the one ConcreteFunction that covers its method; the first call that executes
takes it off again, so later calls run the very same path as without us. TensorFlow provides the graphs only at that
call, when the function is instantiated. Asking for them is a switch of the whole process, so one call at a time does.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from tfperfkit import clock
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.graphs.snapshot import MAX_CONSTANT_BYTES, constant_sizes
from tfperfkit.instruments.graphs.tracing import Traced
from tfperfkit.instruments.hooks import frames

_ATTRIBUTE = "_call_flat"
_UNSEEN = "the first execution of functions can't be seen in this TensorFlow"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class FirstRun:
    """One first execution. Holds live objects of TensorFlow: a listener must not keep them after it returns.

    ``graphs`` is a ``RunMetadata.function_graphs`` entry (``pre_optimization_graph``, ``post_optimization_graph``,
    ``partition_graphs``); None with the ``reason`` in words. The time holds the instantiation, Grappler, a compilation
    by XLA, and the run itself.
    """

    concrete: Any
    begin_ns: int
    end_ns: int
    arguments: tuple[Any, ...] = ()  # the tensors of the call, without the captures
    graphs: Any = None
    reason: str = ""
    error: str | None = None  # the exception's type


Listener = Callable[[FirstRun], None]


class _Waiting:
    """Hook on a ConcreteFunction until its first execution. Holds it weakly: it is held by it."""

    __slots__ = ("collect", "concrete", "listeners")

    def __init__(self, concrete: Any) -> None:
        self.concrete = weakref.ref(concrete)
        self.listeners: list[Listener] = []
        self.collect = False

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        concrete = self.concrete()
        method = getattr(type(concrete), _ATTRIBUTE).__get__(concrete)
        if not executing():  # called while another graph is built: that makes a node, and runs nothing
            try:
                return method(*arguments, **keywords)
            except BaseException as error:
                error.__traceback__ = frames.without_own_head(error.__traceback__)
                raise
        _take_off(concrete)
        inputs = arguments[0] if arguments else keywords.get("tensor_inputs", ())
        collection = _Collection(concrete) if self.collect else None
        begin_ns = clock.now_ns()
        try:
            result = method(*arguments, **keywords)
        except BaseException as error:
            self._tell(concrete, begin_ns, inputs, collection, type(error).__name__)
            error.__traceback__ = frames.without_own_head(error.__traceback__)
            raise
        self._tell(concrete, begin_ns, inputs, collection, None)
        return result

    def _tell(self, concrete: Any, begin_ns: int, inputs: Any, collection: _Collection | None, error: Any) -> None:
        end_ns = clock.now_ns()
        try:
            graphs, reason = collection.end() if collection is not None else (None, "not asked for")
            if error is not None and graphs is None:
                reason = "its first execution failed"
            event = FirstRun(
                concrete=concrete,
                begin_ns=begin_ns,
                end_ns=end_ns,
                arguments=tuple(inputs),
                graphs=graphs,
                reason=reason,
                error=error,
            )
        except Exception:
            return
        for listener in self.listeners:
            with contextlib.suppress(Exception):
                listener(event)


_lock = threading.RLock()
_collecting = threading.Lock()
_waiting: weakref.WeakSet[Any] = weakref.WeakSet()


def on_first_run(concrete: Any, listener: Listener, *, collect: bool) -> None:
    """Call ``listener`` once, right after ``concrete`` is executed for the first time from now on.

    ``collect``: also get its graphs (if one listener wants them, all of them see them); there are none where XLA
    compiles the whole function, see ``jit_compiled``. Exceptions that a listener raises are dropped. Raises
    ``Unavailable`` when this TensorFlow has no such method.
    """
    if not callable(getattr(type(concrete), _ATTRIBUTE, None)):
        raise Unavailable(f"{type(concrete).__name__} has no {_ATTRIBUTE}: {_UNSEEN}")
    with _lock:
        waiting = vars(concrete).get(_ATTRIBUTE)
        if not isinstance(waiting, _Waiting):
            waiting = _Waiting(concrete)
            try:
                setattr(concrete, _ATTRIBUTE, waiting)
            except (AttributeError, TypeError):
                kind = type(concrete).__name__
                raise Unavailable(f"{kind} does not let {_ATTRIBUTE} be covered: {_UNSEEN}") from None
            _waiting.add(concrete)
        waiting.listeners.append(listener)
        waiting.collect = waiting.collect or collect


def jit_compiled(traced: Traced) -> bool:
    """Return whether XLA compiles the whole function: then there is no Grappler and no graph to collect."""
    attributes = getattr(traced.tracing_options, "attributes", None) or {}
    return bool(attributes.get("_XlaMustCompile", False))


def forget(listener: Listener) -> None:
    """Take the listener off all functions that were not executed yet."""
    with _lock:
        for concrete in list(_waiting):
            waiting = vars(concrete).get(_ATTRIBUTE)
            if isinstance(waiting, _Waiting):
                waiting.listeners = [other for other in waiting.listeners if other != listener]
                if not waiting.listeners:
                    _take_off(concrete)


def waiting() -> int:
    """Return how many functions carry our attribute now."""
    return sum(isinstance(vars(concrete).get(_ATTRIBUTE), _Waiting) for concrete in list(_waiting))


def _take_off(concrete: Any) -> None:
    with _lock:
        if isinstance(vars(concrete).get(_ATTRIBUTE), _Waiting):
            delattr(concrete, _ATTRIBUTE)
        _waiting.discard(concrete)


def executing() -> bool:
    """Return whether operations run now, rather than being put into a graph."""
    from tensorflow.python.eager import context

    try:
        return bool(context.context().executing_eagerly())
    except Exception:
        return False


class _Collection:
    """TensorFlow's collection of graphs, switched on for one call. A graph that can't be collected has a reason."""

    def __init__(self, concrete: Any) -> None:
        self._names: frozenset[str] = frozenset()
        self._reason = self._begin(concrete)

    def _begin(self, concrete: Any) -> str:
        try:
            from tensorflow.python.eager import context

            if getattr(context.context(), "_context_handle", None) is None:
                return "TensorFlow was not initialised yet"
            if _traced_by_script():
                return "the script collects graphs itself (tf.summary.trace_on)"
            operations = concrete.graph.get_operations()  # arguments and captures get other names
            if sum(constant_sizes(operations).values()) > MAX_CONSTANT_BYTES:
                return "its constants are too large to be copied"
            self._names = frozenset(each.name for each in operations if each.type != "Placeholder")
            if not _collecting.acquire(blocking=False):
                return "another function was run for the first time at the same time"
            try:
                context.context().enable_graph_collection()
            except BaseException:
                _collecting.release()
                raise
        except Exception as error:
            return f"TensorFlow gave no graphs ({type(error).__name__})"
        return ""

    def end(self) -> tuple[Any, str]:
        """(the function's graphs, "") or (None, why not)."""
        if self._reason:
            return None, self._reason
        try:
            from tensorflow.python.eager import context

            try:
                metadata = context.context().export_run_metadata()
            finally:
                context.context().disable_graph_collection()
                _collecting.release()
            found = max(metadata.function_graphs, key=self._common, default=None)
        except Exception as error:
            return None, f"TensorFlow gave no graphs ({type(error).__name__})"
        if found is None or 2 * self._common(found) < len(self._names):
            return None, "TensorFlow made no new graph at the first call that was seen"
        return found, ""

    def _common(self, graphs: Any) -> int:
        return sum(node.name in self._names for node in graphs.pre_optimization_graph.node)


def _traced_by_script() -> bool:
    summary = sys.modules.get("tensorflow.python.ops.summary_ops_v2")
    return getattr(summary, "_current_trace_context", None) is not None
