"""What is remembered of an observed call while it lasts, and of a ``tf.function`` that updates weights."""

from __future__ import annotations

import weakref
from collections import Counter
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
        self.steps = 0  # that were made by calls of it
        self.batch_size = 0
        self.optimizers: list[weakref.ref[Any]] = []

    @property
    def kind(self) -> MarkerKind:
        """What a marker of its calls is."""
        return "named" if self.named else "loop_call" if self.loop else "call"

    def counters(self) -> list[int]:
        """The optimizers' step counters now. Reading one waits for a GPU: done only for loops inside a graph."""
        return [_counter(reference()) for reference in self.optimizers]

    def before(self, made: Counter[int]) -> list[int]:
        """The same before the first call, from ``Functions.updates``."""
        return [made[id(reference())] for reference in self.optimizers]


def _counter(optimizer: Any) -> int:
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

    def updates(self) -> Counter[int]:
        """How many steps were made with each optimizer by the functions that are known, by the optimizer's ``id``. Its
        own counter can't be read before a call of which nothing is known yet: that would make a tensor in the script.
        """
        made: Counter[int] = Counter()
        for known in list(self._known.values()):
            for optimizer in {id(reference()) for reference in known.optimizers} if known else ():
                made[optimizer] += known.steps  # type: ignore[union-attr]
        return made

    def _forget(self, key: int) -> None:
        self._known.pop(key, None)
        self._references.pop(key, None)


UNSEEN: Any = object()
