"""What is remembered of an observed call while it lasts, and the numbers of what is called."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import Any

from tfperfkit.instruments.steps.functions import Updating


class Token:
    __slots__ = ("begin", "extra", "first", "frame", "known", "nested", "owner", "site")

    def __init__(self, site: int, owner: Any, nested: bool, known: Updating | None = None) -> None:
        self.site = site
        self.owner = owner
        self.nested = nested
        self.known = known  # what is known of the function that is called
        self.extra: Any = None
        self.first = False  # its thread was taken for the training thread
        self.begin = 0
        self.frame: FrameType | None = None


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
