"""Shared by all tests."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Time is never asserted: the machines are shared, and an example may take long on a loaded one.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

# Logs of TensorFlow's C++ code are noise in a test's output.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

# As a process ends, Python looks for garbage in all that TensorFlow has imported, several times: a second. Those of the
# tests leave it, where the Makefile has put builders/quick_end.pth; not the programs of the transparency suite.
os.environ["TESTS_END_QUICKLY"] = "1"

# Under nohup, or in the background of a shell, signals come ignored, and processes that tests start would inherit that.
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGINT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


# Thousands of tests and their modules stay till the end: they are not looked through for garbage.
gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """One worker collects first, and the others find its bytecode: rewriting the assertions of all tests takes 9 s."""
    run = getattr(session.config, "workerinput", {}).get("testrunuid")
    if run is None:
        return (yield)
    first = Path(tempfile.gettempdir()) / f"collected-{run}"
    with first.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if first.stat().st_size:
            fcntl.flock(lock, fcntl.LOCK_UN)
        found = yield
        lock.write("x")
    return found


def pytest_unconfigure(config: pytest.Config) -> None:
    run = getattr(config, "workerinput", {}).get("testrunuid")
    (Path(tempfile.gettempdir()) / f"collected-{run}").unlink(missing_ok=True)


def pytest_collection_finish() -> None:
    # Every worker collects every test, and the import takes 3 s of a processor: see builders/late_tensorflow.py.
    if "tensorflow" in sys.modules:
        raise pytest.UsageError("a test module imports TensorFlow as it is collected")
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests marked ``long`` unless TFPERF_LONG is 1 (``make test-long``)."""
    if os.environ.get("TFPERF_LONG") == "1":
        return
    long = [item for item in items if item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)  # another suite's, not skipped in this one
        items[:] = [item for item in items if item not in long]
