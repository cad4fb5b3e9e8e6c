"""One trace, several readers: while ``sharing`` lasts, a file that is opened again is the one that was read before.

Results of readers from a plane (``Plane.once``) are then there for the next one. A file that has changed meanwhile is
read again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from tfperfkit.xplane import reader
from tfperfkit.xplane.reader import DEFAULT_LIMIT_BYTES, Space

_Identity = tuple[int, int, int]
_Opened = dict[Path, tuple[_Identity, Space]]
_open: _Opened | None = None
_kept: _Opened = {}


@contextmanager
def sharing(*, keep: bool = False) -> Iterator[None]:
    """Files are kept open until the outermost of these ends; ``keep``: until the next one does. Of one thread at a
    time."""
    global _open, _kept
    if _open is not None:
        yield
        return
    _open, _kept = _kept, {}
    try:
        yield
    finally:
        opened, _open = _open, None
        if keep:
            _kept = opened
        else:
            for _, space in opened.values():
                space.close()


def open_space(path: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> AbstractContextManager[Space]:
    """Open a trace file, for a ``with``; raises ``Unavailable`` with the reason when it can't be read."""
    if _open is None:
        return reader.open_space(path, limit_bytes)
    identity = _identity(path)
    known = _open.get(path)
    if known is None or known[0] != identity or known[1].size > limit_bytes:
        known = (identity, reader.open_space(path, limit_bytes))
        _open[path] = known
    return nullcontext(known[1])


def _identity(path: Path) -> _Identity:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return (0, 0, 0)  # opening it says why
    return (found.st_ino, found.st_size, found.st_mtime_ns)
