"""Count the objects that TensorFlow keeps alive: graphs of traced functions, variables, the operations of a v1 default
graph.

Nothing is looked for on the heap. Graphs and variables are remembered, weakly, where they are made: when a function
has been traced and when a variable is constructed, both rare in a training step.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.graphs.tracing import Traced
from tfperfkit.instruments.hooks import method_seam

Place = tuple[str, int, str]  # file, line, function
_MAX_PLACES = 500


class LiveGraphs:
    """A listener of the tracing instrument. ``describe`` tells where a traced function is defined; ``count()`` gives
    for each such place the live graphs and their operations."""

    def __init__(self, describe: Callable[[Traced], Place]) -> None:
        self._describe = describe
        self._graphs: dict[int, tuple[Any, Place, int]] = {}

    def __call__(self, traced: Traced) -> None:
        graph = getattr(traced.concrete, "graph", None)
        if graph is None:
            return
        key, place = id(graph), self._describe(traced)
        reference = weakref.ref(graph, lambda _: self._graphs.pop(key, None))
        self._graphs[key] = (reference, place, int(graph.num_operations()))

    def count(self) -> dict[Place, tuple[int, int]]:
        found: dict[Place, tuple[int, int]] = {}
        for _, place, operations in list(self._graphs.values()):
            live, total = found.get(place, (0, 0))
            found[place] = (live + 1, total + operations)
        return found


class LiveVariables:
    """Variables of eager code and of Keras (which wraps them), by the user's line that made them."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._variables: dict[int, tuple[Any, Place]] = {}
        self._places: dict[Place, Place] = {}
        self._undo: Callable[[], None] = lambda: None

    def install(self) -> None:
        """Raises ``Unavailable`` when TensorFlow is not there or has another class."""
        module = sys.modules.get("tensorflow.python.ops.resource_variable_ops")
        owner = getattr(module, "BaseResourceVariable", None)
        if owner is None:
            raise Unavailable("variables are not counted: this TensorFlow has no BaseResourceVariable")
        try:
            self._undo = method_seam.install(owner, "__init__", self._before, lambda token, called: None)
        except (Unavailable, TypeError) as error:
            raise Unavailable(f"variables are not counted: {error}") from error

    def restore(self) -> None:
        self._undo()

    def _before(self, variable: Any) -> None:
        key = id(variable)
        reference = weakref.ref(variable, lambda _: self._variables.pop(key, None))
        self._variables[key] = (reference, self._place(sys._getframe(2)))

    def _place(self, frame: FrameType | None) -> Place:
        while frame is not None:
            code = frame.f_code
            if self._is_user(code.co_filename):
                place = (code.co_filename, frame.f_lineno, code.co_name)
                if place in self._places or len(self._places) < _MAX_PLACES:
                    return self._places.setdefault(place, place)
                break
            frame = frame.f_back
        return ("", 0, "")

    def count(self) -> dict[Place, tuple[int, int]]:
        """For each place the live variables, and their bytes where the shape is known."""
        found: dict[Place, tuple[int, int]] = {}
        for reference, place in list(self._variables.values()):
            live, size = found.get(place, (0, 0))
            found[place] = (live + 1, size + _bytes_of(reference()))
        return found


def _bytes_of(variable: Any) -> int:
    try:
        return int(variable._shape.num_elements() or 0) * int(variable._dtype.size)
    except Exception:  # still under construction, or of a type without a size
        return 0


def default_graph() -> Any:
    """Return the graph that v1-style operations are added to, if there is one; never makes one."""
    module = sys.modules.get("tensorflow.python.framework.ops")
    stack = getattr(module, "_default_graph_stack", None)
    try:
        return stack.stack[-1] if stack.stack else stack._global_default_graph  # type: ignore[union-attr]
    except Exception:
        return None
