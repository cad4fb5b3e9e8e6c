"""Copies of the user's source files in the run directory, so that a report can show lines later."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from tfperfkit.storage.stream_set import Streams

_MAX_CHARACTERS = 2_000_000
_MAX_SEEN = 100


class Sources:
    """Keeps each file once."""

    def __init__(self, streams: Streams, is_user: Callable[[str], bool]) -> None:
        self._streams = streams
        self._is_user = is_user
        self._kept: set[str] = set()
        self._main = ""

    def keep(self, filename: str) -> None:
        """Copy a file, as Python read it."""
        if filename in self._kept:
            return
        self._kept.add(filename)
        import linecache

        lines = linecache.getlines(filename)
        if lines and sum(map(len, lines)) < _MAX_CHARACTERS:
            self._streams.stream("sources").append([filename, lines])

    def find_main(self) -> None:
        """Remember which file the script itself is: Python forgets it before it exits."""
        file = getattr(sys.modules.get("__main__"), "__file__", None)
        self._main = file if isinstance(file, str) else ""

    def keep_main(self) -> None:
        """Copy the script itself, also when no step or trace led to it: it may contain a switch."""
        if self._main and self._is_user(self._main):
            self.keep(self._main)

    def keep_seen(self, filenames: Iterable[str]) -> None:
        """Those in which the stack samples saw the script at work."""
        for filename in list(dict.fromkeys(filenames))[:_MAX_SEEN]:
            if self._is_user(filename):
                self.keep(filename)
