"""Reading the local variables of a running function without keeping what they hold.

Before Python 3.13 ``frame.f_locals`` copies all of them into a dictionary that stays with the frame until it ends.
Read once from ``Model.fit``, it kept the iterator of the first epoch alive to the last, and with it the thread of
tf.data's optimiser, for which whoever frees the iterator waits (``docs/design/hooks.md``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

_COPIES = sys.version_info < (3, 13)
_OPTIMIZED = 0x1  # CO_OPTIMIZED: a function's frame, whose f_locals is a copy; of others it is the names themselves
#: A function that names one of these may hold the very dictionary that ``f_locals`` gives.
_READS_LOCALS = frozenset({"locals", "vars", "eval", "exec", "dir", "f_locals"})


def is_function(code: CodeType) -> bool:
    """Return whether frames of this code have local variables of their own, as functions have and modules have not."""
    return bool(code.co_flags & _OPTIMIZED)


def unseen(code: CodeType) -> bool:
    """Return whether the locals of a frame of this code can be read without a change that its function can see."""
    return not _COPIES or not _READS_LOCALS.intersection(code.co_names)


@contextmanager
def locals_of(frame: FrameType) -> Iterator[Mapping[str, Any]]:
    """The variables of ``frame`` by name, to be read within the block only."""
    values = frame.f_locals
    try:
        yield values
    finally:
        # A tracer that is written in Python (pdb's) writes this very dictionary back into the variables as it returns,
        # and has made it in any case; one in C does not look at it.
        if _COPIES and is_function(frame.f_code) and not isinstance(sys.gettrace(), (FunctionType, MethodType)):
            values.clear()


def local(frame: FrameType, name: str, default: Any = None) -> Any:
    """One variable of ``frame``; ``default`` where it is not bound, or can't be read unseen."""
    if not unseen(frame.f_code):
        return default
    with locals_of(frame) as values:
        return values.get(name, default)
