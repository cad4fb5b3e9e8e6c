"""Being asked to stop: what has been measured is shown, whichever signal says so."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Struck:
    """``number``: of the first signal that said to stop; Ctrl-C's where none of these did."""

    number: int = signal.SIGINT

    @property
    def status(self) -> int:
        """The exit status that says so."""
        return 128 + self.number


@contextmanager
def stopped_by_signals() -> Iterator[Struck]:
    """SIGTERM and SIGHUP do what Ctrl-C does: a KeyboardInterrupt, the first time. The second time they end us at once.

    A signal that somebody ignores (``nohup``) stays ignored.
    """
    struck = Struck()
    before: dict[int, object] = {}

    def stop(number: int, _: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        struck.number = number
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, stop)
    try:
        yield struck
    finally:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
