"""Shared by all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# Time is never asserted: the machines are shared, and an example may take long on a loaded one.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

# What TensorFlow's C++ code logs is noise in a test's output.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

# Under nohup, or in the background of a shell, signals come ignored, and processes that tests start would inherit that.
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGINT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
