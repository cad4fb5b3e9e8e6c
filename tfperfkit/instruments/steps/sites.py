"""Places from which markers come, interned: a cheap lookup on the way of a step, the full description once."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from tfperfkit.instruments.stacks.loops import user_frames
from tfperfkit.records.steps import Loop, MarkerKind, Site

#: So many functions or optimizers are told apart at one line; those that are made anew for each step go on for ever.
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
        """The number of a known site; ``frame`` is the innermost one of the call."""
        return self._sites.get(self._key(kind, target, frame))

    def first(self, kind: MarkerKind) -> int | None:
        """The first site of a kind."""
        return next((number for key, number in self._sites.items() if key[0] == kind), None)

    def make(self, kind: MarkerKind, target: int, name: str, frame: FrameType | None, batch: Callable[[], int]) -> int:
        """Describe a new site; the last one at this place when too many targets have been seen there."""
        key = self._key(kind, target, frame)
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
        """The site of the function that --steps-from named."""
        self._made += 1
        self._sites["named", 0, name] = self._made
        self._on_new(Site(id=self._made, kind="named", target=0, name=name, file=file, line=line))
        return self._made

    def _key(self, kind: MarkerKind, target: int, frame: FrameType | None) -> tuple[Any, ...]:
        """A cheap identity of a call site: code positions of the user's frames, line numbers not resolved."""
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
