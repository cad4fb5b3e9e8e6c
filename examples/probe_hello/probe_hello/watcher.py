"""The recording half: runs in the user's process, whenever Python collects garbage."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.probe import Recording

STREAM = "collections"
#: After this many the probe stops: enough to judge by, and a long run stays small on disk (some 6 MB).
MAX = 100_000


class Watcher:
    """A callback for ``gc.callbacks``. Appends ``[begin ns, end ns, generation, place]`` for each collection;
    ``place`` is the user's line that a full collection interrupted, as ``[file, line, function]``, else None."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._pid = os.getpid()
        self._begin = 0
        self._seen = 0
        self._files: set[str] = set()

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            self._begin = now_ns()
            return
        end = now_ns()
        # A forked child inherits the callback; its collections are not those of the training.
        if not self._begin or self._seen >= MAX or os.getpid() != self._pid:
            return
        self._seen += 1
        generation = info["generation"]
        place = self._place(sys._getframe(1)) if generation == 2 else None
        self._recording.append(STREAM, [self._begin, end, generation, place])

    def finish(self) -> None:
        """Keep the source of the lines for the report, and say what was left out."""
        for file in self._files:
            self._recording.keep_source(file)
        if self._seen >= MAX:
            self._recording.note(f"only the first {MAX:,} collections were timed")

    def _place(self, frame: FrameType | None) -> list[Any] | None:
        while frame is not None:
            code = frame.f_code
            if self._recording.is_user_code(code.co_filename):
                self._files.add(code.co_filename)
                return [code.co_filename, frame.f_lineno, code.co_name]
            frame = frame.f_back
        return None
