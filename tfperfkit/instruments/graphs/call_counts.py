"""How often concrete functions run during a window, counted by C code: no frame of ours is on the stack.

An attribute on the one ConcreteFunction covers its method with a bound method that counts its calls.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

from tfperfkit.instruments.graphs import same_arguments

_ATTRIBUTE = "_call_flat"
#: The C type behind ``functools.lru_cache``: without a cache it only counts.
_counted: Any = functools._lru_cache_wrapper


def _info(hits: int, misses: int, maxsize: int, currsize: int) -> int:
    return misses


class GraphCalls:
    """Counts from ``watch`` until ``restore``. A function that already carries such an attribute is left alone."""

    def __init__(self) -> None:
        self._watched: list[tuple[weakref.ref[Any], str, Any]] = []
        self._taken: dict[str, int] = {}

    def watch(self, concrete: Any, name: str) -> bool:
        """Count the calls of ``concrete`` under ``name``; False when that is not possible."""
        method = getattr(type(concrete), _ATTRIBUTE, None)
        same_arguments.release(concrete)
        if method is None or _ATTRIBUTE in vars(concrete):
            return False
        try:
            counter = _counted(method.__get__(concrete), 0, False, _info)
            setattr(concrete, _ATTRIBUTE, counter)
        except (AttributeError, TypeError):
            return False
        self._watched.append((weakref.ref(concrete), name, counter))
        return True

    def take(self) -> dict[str, int]:
        """Return the calls since the last ``take``, by name."""
        now: dict[str, int] = {}
        for _, name, counter in self._watched:
            now[name] = now.get(name, 0) + counter.cache_info()
        fresh = {name: count - self._taken.get(name, 0) for name, count in now.items()}
        self._taken = now
        return {name: count for name, count in fresh.items() if count}

    def restore(self) -> None:
        for reference, _, counter in self._watched:
            concrete = reference()
            if concrete is not None and vars(concrete).get(_ATTRIBUTE) is counter:
                delattr(concrete, _ATTRIBUTE)
