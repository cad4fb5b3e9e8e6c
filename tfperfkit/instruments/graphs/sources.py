"""The seam on graphs: for each outermost trace, what its graphs are made of and which source lines built them.

Nothing runs on the steady path: hooks are in place while a function is traced, and each graph is read once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tfperfkit import clock
from tfperfkit.instruments.graphs import tracing
from tfperfkit.instruments.graphs.building import Building
from tfperfkit.instruments.graphs.reading import Reading, text_of
from tfperfkit.instruments.graphs.tracing import Traced
from tfperfkit.records.graphs import Graphs

_MAX_REASONS = 10
#: Called with the graphs, the trace (None: built outside of any trace) and the time that reading them took, in ns.
Listener = Callable[[Graphs, Traced | None, int], None]


class GraphSources:
    """Follows traces from ``start`` to ``stop``. The listener is called on the thread that traced.

    ``is_user`` tells the user's own files: the frames of others are left out of the stacks.
    """

    def __init__(self, listener: Listener, is_user: Callable[[str], bool]) -> None:
        self._listener = listener
        self._is_user = is_user
        self._building = Building()
        self._pending: list[tuple[str, Any]] = []
        self._lock = threading.RLock()
        self._undo: list[Callable[[], None]] = []
        self._reasons: list[str] = []

    @property
    def reasons(self) -> list[str]:
        """What could not be seen in this TensorFlow, in words; to be asked before ``stop``."""
        limits = [tracing.limits()] if tracing.limits() else []
        return [*limits, *self._reasons, *self._building.reasons]

    def start(self) -> None:
        """Raises ``Unavailable`` where traces can't be followed."""
        self._undo.append(tracing.subscribe(self._traced, self._building.start))
        try:
            self._hook_functions()
        except (ImportError, AttributeError, TypeError) as error:
            self._refuse("gradients of compiled functions under an eager tape have no lines", error)

    def stop(self) -> None:
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
                self._made(function.name, graph)
            except Exception as error:
                self._refuse("the graph of a gradient could not be read", error)
            return function

        atomic_function.from_func_graph = from_func_graph

        def restore() -> None:
            if atomic_function.from_func_graph is from_func_graph:
                atomic_function.from_func_graph = original

        self._undo.append(restore)

    def _made(self, name: Any, graph: Any) -> None:
        with self._lock:
            self._pending.append((text_of(name), graph))
            # The backward function is made first; its lines are those of the forward function, which follows.
            if not tracing.running() and not str(getattr(graph, "name", "")).startswith("__backward_"):
                self._flush(None)

    def _traced(self, traced: Traced) -> None:
        with self._lock:
            if tracing.running():
                return  # an enclosing trace will tell
            concrete = traced.concrete
            try:
                if concrete is not None and not traced.exporting:
                    self._pending.append((text_of(concrete.name), concrete.graph))
                    self._flush(traced)
            except Exception as error:
                self._refuse("the graph of a function could not be read", error)
            finally:
                self._pending = []
                self._building.stop()

    def _refuse(self, what: str, error: Exception) -> None:
        reason = f"{what} ({type(error).__name__}: {error})"
        if reason not in self._reasons and len(self._reasons) < _MAX_REASONS:
            self._reasons.append(reason)

    def _flush(self, traced: Traced | None) -> None:
        began = clock.now_ns()
        pending, self._pending = self._pending, []
        graphs = Reading(self._building, self._is_user).read(pending)
        self._listener(graphs, traced, clock.now_ns() - began)
