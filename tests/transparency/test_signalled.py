"""Signals that a script handles, and those that end it."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

PROGRAMS = [
    Program(
        "terminated",
        """
import os, time
os.kill(os.getpid(), 15)
time.sleep(9)
""",
        status=-15,
    ),
    Program(
        "keyboard interrupt",
        """
import os, signal
def f():
    os.kill(os.getpid(), signal.SIGINT)
f()
""",
        status=-2,
        shows=b"KeyboardInterrupt",
    ),
    Program(
        "handles signals",
        """
import os, signal, sys
got = []
for n in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP, signal.SIGRTMIN):
    signal.signal(n, lambda n, f: got.append((int(n), f.f_code.co_filename.rpartition('/')[2])))
    os.kill(os.getpid(), n)
print(got)
""",
        shows=b"script.py",
    ),
    Program(
        "signals its group",
        """
import os, signal, time
got = []
signal.signal(signal.SIGTERM, lambda n, f: got.append(n))
os.killpg(os.getpgrp(), signal.SIGTERM)
time.sleep(0.3)
print(len(got))
""",
        shows=b"1",
    ),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
