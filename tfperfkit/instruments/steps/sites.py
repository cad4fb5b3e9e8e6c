"""Places from which markers come: each is described once, with the source loops around it, and then found cheaply.

A site is recognised by the instruction that calls, without walking the whole stack. The number of TensorFlow's frames
between a call and our hook is the same in each call of one function from one line, so the user's frame is found by its
depth. That frame and its callers are compared by code object and instruction; no frame is kept.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from tfperfkit.instruments.stacks.look import frames as frames_now
from tfperfkit.records.steps import Loop, MarkerKind, Site
from tfperfkit.syntax.loops import SourceLoops

#: Maximum number of functions or optimizers that are distinguished at one line; those that are created again for each
#: step go on for ever.
MAX_TARGETS = 32


class SiteBook:
    """Numbers sites from 1 and tells each new one to ``on_new``."""

    def __init__(
        self,
        is_user: Callable[[str], bool],
        loops: Callable[[list[FrameType]], tuple[Loop, ...]],
        on_new: Callable[[Site], None],
    ) -> None:
        self._is_user = is_user
        self._loops = loops
        self._on_new = on_new
        self._known: dict[str, bool] = {}
        self._sites: dict[tuple[Any, ...], int] = {}
        self._at: dict[tuple[Any, ...], list[int]] = {}
        self._made = 0

    def find(self, kind: MarkerKind, target: int, frame: FrameType | None) -> int | None:
        """Return the number of a known site; ``frame`` is the innermost one of the call."""
        return self._sites.get(self._make_key(kind, target, frame))

    def first(self, kind: MarkerKind) -> int | None:
        """Return the first site of a kind."""
        return next((number for key, number in self._sites.items() if key[0] == kind), None)

    def make(self, kind: MarkerKind, target: int, name: str, frame: FrameType | None, batch: Callable[[], int]) -> int:
        """Describe a new site; the last one at this place when too many targets have been seen there."""
        key = self._make_key(kind, target, frame)
        here = self._at.setdefault((kind, *key[2:]), [])
        if len(here) >= MAX_TARGETS:
            self._sites[key] = here[-1]
            return here[-1]
        self._made += 1
        site = self._sites[key] = self._made
        here.append(site)
        frames = user_frames(frame, self._is_user)
        inner = frames[0] if frames else None
        try:
            batch_size = batch()
        except Exception:  # another TensorFlow keeps it elsewhere: the throughput is not reported
            batch_size = 0
        self._on_new(
            Site(
                id=site,
                kind=kind,
                target=target,
                name=name,
                file=inner.f_code.co_filename if inner else "",
                line=inner.f_lineno if inner else 0,
                function=inner.f_code.co_name if inner else "",
                loops=self._loops(frames),
                chain=tuple((item.f_code.co_filename, item.f_lineno) for item in frames[:50]),
                batch_size=batch_size,
            )
        )
        return site

    def make_named(self, name: str, file: str, line: int) -> int:
        """Return the site of the function that --steps-from named."""
        self._made += 1
        self._sites["named", 0, name] = self._made
        self._on_new(Site(id=self._made, kind="named", target=0, name=name, file=file, line=line))
        return self._made

    def _make_key(self, kind: MarkerKind, target: int, frame: FrameType | None) -> tuple[Any, ...]:
        """Return a cheap identity of a call site: code positions of the user's frames, line numbers not resolved."""
        key: list[Any] = [kind, target]
        known = self._known
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            own = known.get(name)
            if own is None:
                own = known[name] = self._is_user(name)
            if own:
                key += (name, code.co_firstlineno, frame.f_lasti)
                if code.co_name == "<module>":
                    break  # beyond it are imports and the interpreter's start
            frame = frame.f_back
        return tuple(key)


#: How many callers of a function are remembered, and how many frames of each: a deeper stack is walked each time.
_CALLERS, _FRAMES = 4, 12

Chain = tuple[tuple[CodeType, int], ...]


class Callers:
    """The sites from which one function is called, as ``(depth, chain, site)``. ``depth``: how many frames lie between
    the hook's caller and the user's; ``chain``: (code, instruction) of the user's frame and of those above it."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: list[tuple[int, Chain, int]] = []

    def site(self, above: int) -> int | None:
        """Find the site of the current call; None if it must be looked up. ``above``: how many frames lie between our
        caller and the one from which the stack counts."""
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
        """Remember that a call with ``frame`` as its innermost comes from this site."""
        depth, chain = chain_of(frame, is_user)
        if chain:
            self.known.insert(0, (depth, chain, site))
            del self.known[_CALLERS:]


def chain_of(frame: FrameType | None, is_user: Callable[[str], bool]) -> tuple[int, Chain]:
    """Count the library's frames from ``frame`` outwards, and make the chain from the user's frame on: an empty one
    if it is too long to be remembered."""
    depth = 0
    while frame is not None and not is_user(frame.f_code.co_filename):
        frame, depth = frame.f_back, depth + 1
    chain: list[tuple[CodeType, int]] = []
    while frame is not None:
        code = frame.f_code
        chain.append((code, frame.f_lasti))
        if code.co_name == "<module>" and is_user(code.co_filename):
            break  # the frames above do not change the site
        if len(chain) >= _FRAMES:
            return depth, ()
        frame = frame.f_back
    return depth, tuple(chain)


def user_frames(frame: FrameType | None, is_user: Callable[[str], bool]) -> list[FrameType]:
    """List the user's frames from ``frame`` outwards, innermost first."""
    frames = []
    while frame is not None:
        if is_user(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return frames


def thread_frame(thread_id: int) -> FrameType | None:
    """Return the current frame of another thread, or None."""
    return frames_now().get(thread_id)


class LoopFinder:
    """Finds the loops around a line, from the source; a file is parsed once."""

    def __init__(self) -> None:
        self._files: dict[str, SourceLoops] = {}

    def loops(self, frames: list[FrameType]) -> tuple[Loop, ...]:
        """List the loops around a chain of calls (``frames`` innermost first), outermost first."""
        found: list[Loop] = []
        for frame in reversed(frames):
            code = frame.f_code
            found += self._around(code.co_filename, frame.f_lineno)
        return tuple(found)

    def _around(self, filename: str, line: int) -> list[Loop]:
        known = self._files.get(filename)
        if known is None:
            known = self._files[filename] = SourceLoops(linecache.getlines(filename))
        return [Loop(filename, begin) for begin in known.around(line)]
