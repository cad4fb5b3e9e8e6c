"""The session that records in this process, if any, and its end in forked children."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Recorder(Protocol):
    """What a session is to this module."""

    @property
    def finished(self) -> bool: ...
    def abandon(self) -> None: ...


_active: weakref.ref[Recorder] | None = None
_fork_hooked = False


def active_session() -> Recorder | None:
    """The session that records now; None when there is none or it has ended."""
    session = _active() if _active is not None else None
    return session if session is not None and not session.finished else None


def activate(session: Recorder) -> None:
    """Make this the process's session. A forked child abandons it: it records nothing."""
    global _active, _fork_hooked
    _active = weakref.ref(session)
    if not _fork_hooked:
        _fork_hooked = True
        os.register_at_fork(after_in_child=_abandon)


def _abandon() -> None:
    session = active_session()
    if session is not None:
        session.abandon()
