"""Seeing the calls of a method without standing on its stack.

A wrapper function would show in the tracebacks and in ``inspect.stack()`` of the user's program. Here the method is
replaced by a descriptor instead: ``before`` runs while Python looks the method up, ``after`` when the callable that
it was handed is let go, which is right after the call returned or raised. In between only C code of ours is there.
``after`` learns whether the method was called at all.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.hooks.interrupts import raise_later, words_of
from tfperfkit.instruments.hooks.notes import remark

Before = Callable[[Any], Any]
After = Callable[[Any, bool], None]


#: The C type behind ``functools.lru_cache``. Without a cache it only counts calls: so that a method that was looked
#: up and never called (``hasattr``, ``dir``, a saver that walks attributes) can be told from one that was.
_counted: Any = functools._lru_cache_wrapper
#: Function of (hits, misses, size of the cache, entries), in which all but the misses are 0. In C: see ``_Call``.
_misses = max
#: Since Python 3.13 ``inspect.signature`` asks a partial for what it calls, also where it looks like a function.
_PARTIAL_FIRST = sys.version_info >= (3, 13)


class _Call(functools.partial):  # type: ignore[type-arg]
    """Stands in a bound method for its function and reports the end of the call. C code calls it
    (``functools.partial``), no Python frame is added.

    The script may look at the method as well: whatever is asked of its function, the original answers.
    """

    original: FunctionType  # of the class that ``Around`` makes
    after: Callable[[Any, bool], None]
    token: Any

    def __del__(self) -> None:
        try:
            self.after(self.token, self.func.cache_info() > 0)  # type: ignore[attr-defined]
        except Exception as error:  # an error of ours is never the script's; __del__ would print it to stderr
            failed(error)
        except BaseException as error:  # a Ctrl-C is the script's, and __del__ would lose it
            raise_later(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(type(self).original, name)

    def __eq__(self, other: object) -> bool:
        return type(self).original is getattr(type(other), "original", other)

    def __hash__(self) -> int:
        return hash(type(self).original)

    def __repr__(self) -> str:
        return repr(type(self).original)


class Around:
    """The descriptor. ``before(instance)`` returns a token, or None for a call that is of no interest."""

    def __init__(self, original: Any, before: Before, after: After) -> None:
        self.original = original
        self._before = before
        self._call = type(
            "function",
            (_Call,),
            {
                "original": original,
                "after": staticmethod(after),
                "__doc__": original.__doc__,
                "__module__": original.__module__,
                "__class__": property(lambda call: FunctionType),
            },
        )
        functools.update_wrapper(self, original)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self.original
        try:
            token = self._before(instance)
        except Exception as error:
            token = None
            failed(error)
        except BaseException as error:
            token = None
            raise_later(error)
        if token is None:
            return MethodType(self.original, instance)
        counted = _counted(self.original, 0, False, _misses)
        if _PARTIAL_FIRST:
            counted.__wrapped__ = self.original
        call = self._call(counted)
        call.token = token
        return MethodType(call, instance)


Make = Callable[[Any, Before, After], Around]


def failed(error: Exception) -> None:
    """Leave the reason for the report: on an unknown TensorFlow what a hook reads may be missing."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    where = os.path.basename(traceback.tb_frame.f_code.co_filename) if traceback is not None else "around.py"
    words = " ".join(words_of(error).split())[:200]
    remark(f"something is missing in this report: tfperf's {where} failed ({words})")


def install(owner: type, name: str, before: Before, after: After, make: Make = Around) -> Callable[[], None]:
    """Observe ``owner.name`` by what ``make`` makes; returns the call that undoes it.

    Raises Unavailable when the class has no plain function of that name (another TensorFlow, another patch).
    """
    original = owner.__dict__.get(name)
    if not isinstance(original, FunctionType):
        package = owner.__module__.partition(".")[0]
        raise Unavailable(f"{owner.__qualname__}.{name} of this {package} is not the method that tfperf knows")
    seam = make(original, before, after)
    setattr(owner, name, seam)

    def restore() -> None:
        if owner.__dict__.get(name) is seam:
            setattr(owner, name, original)

    return restore
