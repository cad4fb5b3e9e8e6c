"""The seam on graphs: each graph that TensorFlow builds is recorded once, at the end of the outermost trace around it.

Nothing runs on the steady path: hooks are in place while a function is traced, and each graph is read once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from tfperfkit import clock
from tfperfkit.instruments.graphs import tracing
from tfperfkit.instruments.graphs.building import Building
from tfperfkit.instruments.graphs.reading import Known, Made, Reading
from tfperfkit.instruments.graphs.tracing import Traced
from tfperfkit.records.graph_contents import MAX_OPERATIONS, GraphContents

_MAX_REASONS = 10
#: Called with the functions of a trace (the runtime's name of each, and the name of its graph's record), the trace
#: (None: built outside of any trace) and the time that reading the graphs took, in ns.
Listener = Callable[[Mapping[str, str], Traced | None, int], None]
#: Whether every operation's stack of a trace's own graph is to be read.
EveryLine = Callable[[Traced], bool]


class GraphSources:
    """Follows traces while somebody wants it.

    ``append`` is given each graph. ``is_user`` tells the user's own files: the frames of others are left out of the
    stacks. ``keep_source`` is given the user's files in them.
    """

    def __init__(
        self,
        append: Callable[[GraphContents], object],
        is_user: Callable[[str], bool],
        keep_source: Callable[[str], object] = lambda file: None,
    ) -> None:
        self._append = append
        self._is_user = is_user
        self._keep_source = keep_source
        self._followers: list[Follower] = []
        self._building = Building()
        self._known = Known()
        self._pending: list[Made] = []
        self._every_line: set[int] = set()
        self._operations = 0
        self._lock = threading.RLock()
        self._undo: list[Callable[[], None]] = []
        self._reasons: list[str] = []

    def follow(self, listener: Listener | None = None, every_line: EveryLine | None = None) -> Follower:
        """Record from now on, until the follower ends it. The listener is called on the thread that traced.

        Raises ``Unavailable`` if traces can't be followed.
        """
        follower = Follower(self, listener, every_line)
        with self._lock:
            if not self._followers:
                self._start()
            self._followers.append(follower)
        return follower

    def record(self, graph: Any, name: str) -> None:
        """Record a graph that no trace builds, under this name."""
        with self._lock:
            self._read([Made.from_graph(name, graph)])

    def forget(self, follower: Follower) -> tuple[str, ...]:
        """End it for one follower; returns what could not be seen in this TensorFlow, in words."""
        with self._lock:
            limits = [tracing.limits()] if tracing.limits() else []
            reasons = (*limits, *self._reasons, *self._building.reasons)
            if follower in self._followers:
                self._followers.remove(follower)
                if not self._followers:
                    self._stop()
        return reasons

    def _start(self) -> None:
        self._undo.append(tracing.subscribe(self._traced, self._building.start))
        try:
            self._hook_functions()
        except (ImportError, AttributeError, TypeError) as error:
            self._refuse("gradients of compiled functions under an eager tape have no lines", error)

    def _stop(self) -> None:
        while self._undo:
            self._undo.pop()()
        self._building.stop()
        self._pending = []

    def _hook_functions(self) -> None:
        """See functions that no trace announces: forward and backward of a tf.function under an eager tape."""
        from tensorflow.python.eager.polymorphic_function import atomic_function

        original = atomic_function.from_func_graph

        def from_func_graph(name: Any, graph: Any, *arguments: Any, **named: Any) -> Any:
            function = original(name, graph, *arguments, **named)
            try:
                self._note_graph(function.name, graph)
            except Exception as error:
                self._refuse("the graph of a gradient could not be read", error)
            return function

        atomic_function.from_func_graph = from_func_graph

        def restore() -> None:
            if atomic_function.from_func_graph is from_func_graph:
                atomic_function.from_func_graph = original

        self._undo.append(restore)

    def _note_graph(self, name: Any, graph: Any) -> None:
        with self._lock:
            self._pending.append(Made.from_graph(name, graph))
            # The backward function is made first; its lines are those of the forward function, which follows.
            if not tracing.running() and not str(getattr(graph, "name", "")).startswith("__backward_"):
                self._flush(None)

    def _traced(self, traced: Traced) -> None:
        with self._lock:
            try:
                if traced.concrete is not None and not traced.exporting:
                    self._pending.append(Made.from_graph(traced.concrete.name, traced.concrete.graph))
                    if any(each.every_line is not None and each.every_line(traced) for each in self._followers):
                        self._every_line.add(id(traced.concrete.graph))
                if not tracing.running():  # else an enclosing trace will tell
                    self._flush(traced)
            except Exception as error:
                self._refuse("the graph of a function could not be read", error)
            finally:
                if not tracing.running():
                    self._pending = []
                    self._every_line = set()
                    self._building.stop()

    def _refuse(self, what: str, error: Exception) -> None:
        reason = f"{what} ({type(error).__name__}: {error})"
        if reason not in self._reasons and len(self._reasons) < _MAX_REASONS:
            self._reasons.append(reason)

    def _flush(self, traced: Traced | None) -> None:
        began = clock.now_ns()
        pending, self._pending = self._pending, []
        if traced is not None and traced.exporting:
            return
        functions = self._read(pending)
        if traced is None or traced.concrete is not None:
            spent = clock.now_ns() - began
            for follower in self._followers:
                if follower.listener is not None:
                    follower.listener(functions, traced, spent)

    def _read(self, pending: list[Made]) -> dict[str, str]:
        reading = Reading(self._building, self._is_user, self._known, self._every_line)
        functions, graphs = reading.read(pending, MAX_OPERATIONS - self._operations)
        for contents in graphs:
            self._operations += contents.operations
            self._append(contents)
        for file in {file for contents in graphs for file in contents.files if self._is_user(file)}:
            self._keep_source(file)
        if self._operations >= MAX_OPERATIONS and _FULL not in self._reasons:
            self._reasons.append(_FULL)
        return functions


class Follower:
    """Somebody who wants graphs to be recorded. See ``probe.FollowedGraphs``."""

    def __init__(self, sources: GraphSources, listener: Listener | None, every_line: EveryLine | None) -> None:
        self.listener, self.every_line = listener, every_line
        self._sources = sources

    def record(self, graph: Any, name: str) -> None:
        self._sources.record(graph, name)

    def end(self) -> tuple[str, ...]:
        return self._sources.forget(self)


_FULL = f"the graphs hold too many operations: those after the first {MAX_OPERATIONS:,} were not recorded"
