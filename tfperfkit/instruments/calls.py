"""What is remembered of an observed call while it lasts, and of a ``tf.function`` that updates weights."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import Any

from tfperfkit.steps import MarkerKind


class Token:
    __slots__ = ("begin", "extra", "frame", "known", "nested", "owner", "site")

    def __init__(self, site: int, owner: Any, nested: bool, known: Updating | None = None) -> None:
        self.site = site
        self.owner = owner
        self.nested = nested
        self.known = known  # what is known of the function that is called
        self.extra: Any = None
        self.begin = 0
        self.frame: FrameType | None = None


class Updating:
    """What is known of a ``Function`` that updates weights."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.number = 0  # among all targets; 0 until its first call
        self.loop = False
        self.named = False  # the person says that a call of it is a step
        self.batch_size = 0
        self.optimizers: list[weakref.ref[Any]] = []

    @property
    def kind(self) -> MarkerKind:
        """What a marker of its calls is."""
        return "named" if self.named else "loop_call" if self.loop else "call"

    def counters(self) -> list[int]:
        """The optimizers' step counters now. Reading one waits for a GPU: done only for loops inside a graph."""
        return [counter(reference()) for reference in self.optimizers]

    def counters_of(self, seen: dict[int, int]) -> list[int]:
        """The same, as they were when ``seen`` was read (by ``id``): 0 for an optimizer that was not known then."""
        return [seen.get(id(reference()), 0) for reference in self.optimizers]


def counter(optimizer: Any) -> int:
    """How many updates an optimizer has made; 0 where it does not tell."""
    try:
        iterations = optimizer.iterations
        # Early Keras 3 has variables that int() does not take.
        return int(iterations.numpy() if hasattr(iterations, "numpy") else iterations)
    except Exception:
        return 0


class Targets:
    """Numbers for optimizers, models and functions, in order of appearance. Identities of dead objects are reused."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, weakref.ref[Any] | None]] = {}
        self._last = 0

    def counters(self) -> dict[int, int]:
        """The updates that each optimizer among them has made, by ``id``. Reading them waits for a GPU."""
        alive = [item for _, reference in list(self._known.values()) if reference and (item := reference()) is not None]
        return {id(item): counter(item) for item in alive}

    def number(self, target: Any) -> int:
        """The object's number, from 1."""
        key = id(target)  # once: it is an audit event, and costs as one
        known = self._known.get(key)
        if known is not None and (known[1] is None or known[1]() is target):
            return known[0]
        try:
            reference = weakref.ref(target)
        except TypeError:
            reference = None
        self._last += 1
        self._known[key] = (self._last, reference)
        return self._last


class Functions:
    """What is known of each ``Function``: an Updating, None when it updates no weights, UNSEEN before its first call.

    By identity: one lookup in C on the way of every call. An entry goes as its function does.
    """

    def __init__(self) -> None:
        self._known: dict[int, Updating | None] = {}
        self._references: dict[int, weakref.ref[Any]] = {}
        self.get = self._known.get  # (id(function), UNSEEN)

    def put(self, function: Any, known: Updating | None) -> None:
        """Remember; raises TypeError when no weak reference to it can be made."""
        key = id(function)
        if key not in self._references:
            self._references[key] = weakref.ref(function, lambda _: self._forget(key))
        self._known[key] = known

    def counters(self) -> dict[int, int]:
        """The updates that the optimizers of all of them have made, by the optimizer's ``id``."""
        references = {item for known in list(self._known.values()) if known for item in known.optimizers}
        alive = [item for reference in references if (item := reference()) is not None]
        return {id(item): counter(item) for item in alive}

    def _forget(self, key: int) -> None:
        self._known.pop(key, None)
        self._references.pop(key, None)


UNSEEN: Any = object()
