"""Descriptors of ours in the script's process: few, and at numbers that the script does not come to."""

from __future__ import annotations

import contextlib
import os

#: Below this number, also where a process may have a million: the kernel's table of them is as long as the highest.
_HIGHEST, _ROOM = 1024, 32
#: A process that may have fewer than this needs them all: then ours are open only while they are used.
_FEW = 128


def scarce() -> bool:
    """Whether the process may have so few descriptors that none of ours should stay open."""
    limit = _limit()
    return limit is not None and limit < _FEW


def out_of_the_way(descriptor: int) -> int:
    """The same file under a high number, closed on exec; as it is where no such number is to be had.

    A script is given the lowest number that is free, and may limit itself to few later: it has all of those.
    """
    limit = _limit()
    if limit is None or limit < _FEW:
        return descriptor
    try:
        import fcntl

        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, min(limit, _HIGHEST) - _ROOM)
    except (ImportError, AttributeError, OSError):
        return descriptor
    with contextlib.suppress(OSError):
        os.close(descriptor)
    return high


def _limit() -> int | None:
    """How many this process may have; None where the system does not say."""
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    except (ImportError, AttributeError, OSError, ValueError):
        return None
    return _HIGHEST if soft == resource.RLIM_INFINITY else soft
