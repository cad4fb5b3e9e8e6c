"""Runs that one worker of pytest-xdist records for the tests of all workers."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest


def recorded_once(factory: pytest.TempPathFactory, worker: str, name: str, record: Callable[[Path], object]) -> Path:
    """The folder ``name`` that ``record`` has filled, once in a session of tests; never to be changed. ``worker`` is
    the fixture ``worker_id``."""
    base = factory.getbasetemp()
    base = base if worker == "master" else base.parent
    folder, done = base / name, base / f"{name}.done"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes second waits; where the first failed, it tries itself
        if not done.exists():
            folder.mkdir(exist_ok=True)
            record(folder)
            done.touch()
    return folder
