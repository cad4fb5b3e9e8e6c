"""Which ``tf.function`` updates weights, and whether it does so in a loop of its own graph.

Decided once per trace, from the finished graph: an optimizer was applied in it, or it assigns to variables and holds
gradients. Nothing of this runs on the steady path.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Iterator
from typing import Any

_ASSIGNS = ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter")


class GraphUpdates:
    """Remembers in which graphs optimizers were applied while they were built."""

    def __init__(self) -> None:
        self._applied: weakref.WeakKeyDictionary[Any, list[weakref.ref[Any]]] = weakref.WeakKeyDictionary()

    def applied(self, optimizer: Any) -> None:
        """An optimizer is applied while a graph is being built."""
        from tensorflow.python.framework import ops

        self._applied.setdefault(ops.get_default_graph(), []).append(weakref.ref(optimizer))

    def of(self, graph: Any) -> tuple[bool, bool, list[Any]]:
        """(updates weights, in a loop of the graph, optimizers) of a function's finished graph."""
        optimizers: list[Any] = []
        loop = False
        for inner, references in list(self._applied.items()):
            chain = list(_outwards(inner))
            if not any(item is graph for item in chain):
                continue
            optimizers += [item for reference in references if (item := reference()) is not None]
            for item in chain:
                if item is graph:
                    break
                loop = loop or _repeats(item)
        if optimizers:
            return True, loop, optimizers
        return _assigns_gradients(graph), False, []


def _outwards(graph: Any) -> Iterator[Any]:
    while graph is not None:
        yield graph
        graph = getattr(graph, "outer_graph", None)


def _repeats(graph: Any) -> bool:
    """Whether a nested graph is the body of a loop: ``while``, or the function of a dataset that is iterated."""
    kind = type(graph).__name__
    name = str(getattr(graph, "name", ""))
    return (
        kind == "WhileBodyFuncGraph"
        or "while_body" in name
        or "scan_body" in name
        or "Dataset" in name
        or ("reduce" in name)
    )


def _assigns_gradients(graph: Any) -> bool:
    assigns = gradients = False
    seen: set[str] = set()
    pending = [graph]
    while pending:
        current = pending.pop()
        for operation in current.get_operations():
            assigns = assigns or operation.type.startswith(_ASSIGNS)
            gradients = gradients or "gradient" in operation.name
            if assigns and gradients:
                return True
        for name, function in getattr(current, "_functions", {}).items():
            nested = getattr(function, "graph", None)
            if name not in seen and nested is not None:
                seen.add(name)
                pending.append(nested)
    return False


def own_code(function: Any) -> Any:
    """The code of the user's function: TensorFlow traces a wrapper around it. None if it has none."""
    try:
        return getattr(inspect.unwrap(function), "__code__", None)
    except ValueError:  # wrappers in a circle
        return None


def is_keras_own(function: Any) -> bool:
    """Keras' own training functions run inside ``fit`` and ``train_on_batch``, which are observed themselves."""
    return (getattr(function, "__module__", None) or "").startswith(("keras.", "tf_keras."))
