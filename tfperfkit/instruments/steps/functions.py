"""The ``tf.function``s of a script: which of them update weights, also in a loop of their graph, and what is known of
their calls.

Whether a function updates weights is decided once per trace, from the finished graph: an optimizer was applied in it,
or it assigns to variables and holds gradients. Nothing of this runs in later steps.
"""

from __future__ import annotations

import inspect
import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tfperfkit.instruments.steps.batch_size import of_signature
from tfperfkit.instruments.steps.quiet_calls import PythonCalls
from tfperfkit.instruments.steps.sites import Callers
from tfperfkit.records.steps import MarkerKind


class Updating:
    """Facts about a ``Function`` that updates weights."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.number = 0  # among all targets; 0 until its first call
        self.loop = False  # whether the update is inside a loop of the graph
        self.named = False  # the user says that a call of it is a step
        self.steps = 0  # that were made by calls of it
        self.batch_size = 0
        self.optimizers: list[weakref.ref[Any]] = []
        self.callers = Callers()
        self.taught = 0  # places of calls that C code knows

    @property
    def kind(self) -> MarkerKind:
        """Return the kind of marker for its calls."""
        return "named" if self.named else "loop_call" if self.loop else "call"

    def counters(self) -> list[int]:
        """Return the optimizers' step counters now. Reading one waits for a GPU: done only for loops inside a graph."""
        return [_counter(reference()) for reference in self.optimizers]

    def before(self, made: Counter[int]) -> list[int]:
        """Return the same before the first call, from ``Functions.updates``."""
        return [made[id(reference())] for reference in self.optimizers]


def _counter(optimizer: Any) -> int:
    """Return how many updates an optimizer has made; 0 if it does not tell."""
    try:
        iterations = optimizer.iterations
        # Early Keras 3 has variables that int() does not take.
        return int(iterations.numpy() if hasattr(iterations, "numpy") else iterations)
    except Exception:
        return 0


class Functions:
    """Facts about each ``Function``: an Updating, None when it updates no weights, UNSEEN before its first call.

    By identity: one lookup in C on the way of every call. An entry goes as its function does. ``calls`` hears when
    what it remembers of a function holds no more.
    """

    def __init__(self, calls: PythonCalls) -> None:
        self._calls = calls
        self._known: dict[int, Updating | None] = {}
        self._references: dict[int, weakref.ref[Any]] = {}
        self._graphs = GraphUpdates()
        self.get = self._known.get  # (id(function), UNSEEN)

    def put(self, function: Any, known: Updating | None) -> None:
        """Remember; raises TypeError when no weak reference to it can be made."""
        key = id(function)
        if key not in self._references:
            self._references[key] = weakref.ref(function, lambda _: self._forget(key))
        self._known[key] = known
        self._calls.forget(key)

    def after_call(self, function: Any) -> Updating | None:
        """Return the facts after a call: when nothing is, it updates no weights."""
        known: Updating | None = self.get(id(function), UNSEEN)
        if known is UNSEEN:
            self.put(function, None)
            return None
        return known

    def updates(self) -> Counter[int]:
        """Return how many steps were made with each optimizer by the functions that are known, by the optimizer's
        ``id``. Its own counter can't be read before a call of which nothing is known yet: that would make a tensor in
        the script.
        """
        made: Counter[int] = Counter()
        for key, known in list(self._known.items()):
            if known is not None:
                for optimizer in {id(reference()) for reference in known.optimizers}:
                    made[optimizer] += known.steps + self._calls.counted(key)
        return made

    # --- what updates weights -----------------------------------------------------------------------------------

    def applied_in_graph(self, optimizer: Any) -> None:
        """Note that an optimizer is applied while a graph is built."""
        self._graphs.applied(optimizer)

    def examine(self, function: Any) -> None:
        """Examine a ``tf.function`` that was traced before the session began, at its first call since."""
        for concrete in function._list_all_concrete_functions():
            self.traced(function, function.python_function, concrete)

    def traced(self, function: Any, python_function: Any, concrete: Any) -> None:
        """Observe calls of this ``Function`` from now on if this graph of it updates weights."""
        updates, loop, optimizers = self._graphs.describe_updates(concrete.graph)
        if not updates or is_keras_own(python_function):
            return
        known: Updating | None = self._known.get(id(function))
        if known is None:
            known = Updating(getattr(python_function, "__name__", "tf.function"))
            self.put(function, known)
        self._calls.forget(id(function))
        known.loop = known.loop or loop
        known.taught = 0
        known.batch_size = known.batch_size or of_signature(concrete)
        known.optimizers += [weakref.ref(item) for item in optimizers]

    def _forget(self, key: int) -> None:
        self._known.pop(key, None)
        self._references.pop(key, None)
        self._calls.drop(key)


UNSEEN: Any = object()


_ASSIGNS = ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter")


class GraphUpdates:
    """Remembers in which graphs optimizers were applied while they were built."""

    def __init__(self) -> None:
        self._applied: weakref.WeakKeyDictionary[Any, list[weakref.ref[Any]]] = weakref.WeakKeyDictionary()

    def applied(self, optimizer: Any) -> None:
        """Note that an optimizer is applied while a graph is being built."""
        from tensorflow.python.framework import ops

        self._applied.setdefault(ops.get_default_graph(), []).append(weakref.ref(optimizer))

    def describe_updates(self, graph: Any) -> tuple[bool, bool, list[Any]]:
        """Tell of a function's finished graph: (updates weights, in a loop of the graph, optimizers)."""
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
    """Return whether a nested graph is the body of a loop: ``while``, or the function of a dataset that is iterated."""
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
    """Return the code of the user's function: TensorFlow traces a wrapper around it. None if it has none."""
    try:
        return getattr(inspect.unwrap(function), "__code__", None)
    except ValueError:  # wrappers in a circle
        return None


def is_keras_own(function: Any) -> bool:
    """Return whether it is a training function of Keras: these run inside ``fit`` and ``train_on_batch``, which are
    observed."""
    return (getattr(function, "__module__", None) or "").startswith(("keras.", "tf_keras."))
