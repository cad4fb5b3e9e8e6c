"""Knowing a call's site again by the instruction that calls, without a walk through all of the stack.

The frames that TensorFlow has between a call and our hook are as many at each call of one function from one line, so
the user's frame is asked for by its depth. It and those that called it are compared by their code objects and
instructions: these alone are kept, never a frame.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType

#: Callers that are remembered of a function, and frames of each: a deeper stack is walked each time.
_CALLERS, _FRAMES = 4, 12

Chain = tuple[tuple[CodeType, int], ...]


class Callers:
    """The sites from which one function is called, as ``(depth, chain, site)``: how many frames the hook's caller is
    below the user's, and (code, instruction) of that and of those above it, up to the script itself."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: list[tuple[int, Chain, int]] = []

    def site(self, above: int) -> int | None:
        """The site of the call under way; None where it must be looked up. ``above``: frames from our caller up to the
        one from which the stack counts."""
        for depth, chain, site in self.known:
            try:
                frame: FrameType | None = sys._getframe(depth + above + 1)
            except ValueError:  # the stack is not that deep
                continue
            for code, instruction in chain:
                if frame is None or frame.f_code is not code or frame.f_lasti != instruction:
                    break
                frame = frame.f_back
            else:
                return site
        return None

    def remember(self, frame: FrameType | None, is_user: Callable[[str], bool], site: int) -> None:
        """A call of which ``frame`` is the innermost one comes from this site."""
        depth, chain = chain_of(frame, is_user)
        if chain:
            self.known.insert(0, (depth, chain, site))
            del self.known[_CALLERS:]


def chain_of(frame: FrameType | None, is_user: Callable[[str], bool]) -> tuple[int, Chain]:
    """How many frames a library has from ``frame`` on, and the chain from the user's on; an empty one where it is too
    long to be remembered."""
    depth = 0
    while frame is not None and not is_user(frame.f_code.co_filename):
        frame, depth = frame.f_back, depth + 1
    chain: list[tuple[CodeType, int]] = []
    while frame is not None:
        code = frame.f_code
        chain.append((code, frame.f_lasti))
        if code.co_name == "<module>" and is_user(code.co_filename):
            break  # what is above makes no other site of it
        if len(chain) >= _FRAMES:
            return depth, ()
        frame = frame.f_back
    return depth, tuple(chain)
