"""A sampler of the training thread's Python stack: which of the person's lines are being executed.

It runs on the session's pulse thread, reads ``sys._current_frames()`` and keeps one short row per sample; stacks are
interned. The rate falls with the length of the run, so that a long run stays bounded.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from tfperfkit.clock import NS_PER_S
from tfperfkit.instruments.activity import TENSORFLOW, FileFacts, activity, context, facts

#: (until this age of the run in seconds, seconds between samples): 100 Hz for half a minute, then rarer. At 100 Hz the
#: thread takes about 1 % of one processor, most of it for waking up with cold caches.
RATES = ((30.0, 0.010), (1200.0, 0.050), (float("inf"), 0.5))
MAX_STACKS = 20_000


def interval_s(age_ns: int) -> float:
    """Seconds to the next sample at this age of the run."""
    return next(interval for until, interval in RATES if age_ns < until * NS_PER_S)


class Sampler:
    """Takes samples and writes them: ``["stack", id, [[file, first line, name, line] …], library, activity, context]``
    once for each new stack (outermost frame first), then ``["s", time_ns, stack id, thread]`` for each sample.

    ``activity`` and ``context`` are the words of ``instruments.activity``."""

    def __init__(self, write: Callable[[Any], None], is_user: Callable[[str], bool]) -> None:
        self._write = write
        self._is_user = is_user
        self._stacks: dict[tuple[Any, ...], int] = {}
        self.codes: dict[tuple[str, int, str], CodeType] = {}
        self.hits: Counter[tuple[str, int, str]] = Counter()
        self.earlier: Counter[tuple[str, int, str]] = Counter()
        self.samples = 0
        self._known: dict[str, FileFacts] = {}

    def forget_hits(self) -> None:
        """Start the count of hot functions anew: what ran before the steady steps comes after them."""
        self.earlier.update(self.hits)
        self.hits.clear()
        self.samples = 0

    def take(self, when_ns: int, thread: int) -> str:
        """Sample one thread; returns the package that ran below the person's code ("" when it was the code itself)."""
        frame: FrameType | None = sys._current_frames().get(thread)
        library = ""
        bits = innermost = 0
        inside = False  # TensorFlow or Keras ran below the person's code
        top = frame
        key: list[Any] = []
        frames: list[FrameType] = []
        known = self._known
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            about = known.get(name)
            if about is None:
                about = known[name] = facts(name, self._is_user(name))
            if about.own:
                frames.append(frame)
                key += (name, code.co_firstlineno, frame.f_lineno)
            else:
                if not frames:
                    library = library or about.package
                    inside = inside or about.package in TENSORFLOW
                if about.marks is not None:
                    mark = about.marks.get(code.co_name) or about.marks.get("*", 0)
                    bits |= mark
                    if frame is top:
                        innermost = mark
            frame = frame.f_back
        doing, around = activity(bits, innermost, inside), context(bits)
        stack = self._stacks.get((library, doing, around, *key))
        if stack is None:
            if len(self._stacks) >= MAX_STACKS:
                return library
            stack = self._stacks[(library, doing, around, *key)] = len(self._stacks) + 1
            rows = [
                [f.f_code.co_filename, f.f_code.co_firstlineno, f.f_code.co_name, f.f_lineno] for f in reversed(frames)
            ]
            self._write(["stack", stack, rows, library, doing, around])
        self._write(["s", when_ns, stack, thread])
        self.samples += 1
        counted = set()
        for item in frames:
            code = item.f_code
            function = (code.co_filename, code.co_firstlineno, code.co_name)
            if function not in counted:
                counted.add(function)
                self.hits[function] += 1
                self.codes[function] = code
        return library

