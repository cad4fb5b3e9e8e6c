"""TensorFlow's own profiler service in the script's process: who reaches it may ask for a trace.

TensorFlow opens it to every network of the machine, and takes no address to listen on. The listening socket is bound to
the loopback device afterwards, unless the user wants it open.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tfperfkit.errors import Unavailable

_LOOPBACK = b"lo"
_DIRECTORY = "/proc/self/fd"


def serve(*, network: bool) -> int:
    """Start the service; returns its port. It ends with the process. Raises Unavailable where it can't be had, or not
    be kept to this machine though it should (``network`` is False)."""
    if not network:
        _check_bindable()
    try:
        from tensorflow.python.profiler.internal import _pywrap_profiler

        start = _pywrap_profiler.start_server
    except (ImportError, AttributeError) as error:
        raise Unavailable(f"this TensorFlow has no profiler service that we know ({error})") from error
    with socket.socket() as free:
        free.bind(("", 0))
        port = int(free.getsockname()[1])
    before = set(_descriptors())
    try:
        start(port)
    except Exception as error:
        raise Unavailable(f"TensorFlow's profiler service did not start ({error})") from error
    listening = 0
    for number in sorted(set(_descriptors()) - before):
        with _borrowed(number) as found:
            if found is None or not _listens(found, port):
                continue
            listening += 1
            if not network:
                _bind(found)
    if not listening:
        raise Unavailable(f"TensorFlow's profiler service does not listen on port {port}")
    return port


def _check_bindable() -> None:
    """Before anything listens: the service can't be ended again."""
    try:
        with socket.socket() as tried:
            _bind(tried)
        _descriptors()
    except (OSError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unavailable(
            f"the profiler service can't be kept to this machine ({reason}): it was not started"
        ) from error


def _bind(found: socket.socket) -> None:
    found.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, _LOOPBACK)


def _listens(found: socket.socket, port: int) -> bool:
    try:
        return bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)) and found.getsockname()[1] == port
    except (OSError, IndexError):
        return False


@contextmanager
def _borrowed(number: int) -> Iterator[socket.socket | None]:
    """Give a descriptor as a socket, left open; None for what is none."""
    found = None
    with suppress(OSError):
        found = socket.socket(fileno=number)
    try:
        yield found
    finally:
        if found is not None:
            found.detach()


def _descriptors() -> list[int]:
    return [int(name) for name in os.listdir(_DIRECTORY)]
