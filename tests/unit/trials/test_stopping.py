"""The effect of a signal while trials run."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tfperfkit.trials.command import stopped_by_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_what_ctrl_c_is_once(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with stopped_by_signals() as struck:
        assert struck.status == 128 + signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
            for _ in range(6000):  # another thread may have been the first to get it
                time.sleep(0.01)
        assert struck.status == 128 + number
        assert signal.getsignal(number) == signal.SIG_DFL
    assert signal.getsignal(number) == before


def test_what_somebody_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
