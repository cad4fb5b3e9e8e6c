"""``tfperf run --live`` on a real terminal: it draws while the script runs, and the script's output is its own."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path

import pytest
from tfperf_runner import Tfperf
from warm_run import warm_tfperf

from tfperfkit.launch.first_finding import ENDING

SCRIPT = """
import os, time
import tensorflow as tf
weights = tf.Variable(tf.ones([8]))
@tf.function
def step(x):
    weights.assign_sub(weights * tf.reduce_sum(x) * 0.0)
    return weights
for n in range(40):
    step(tf.ones([8]) if n % 9 else tf.ones([1]))
    print("mine", n, flush=True)
until = time.time() + 150
while not os.path.exists("seen") and time.time() < until:  # the test has seen what it wants
    step(tf.ones([8]))
    time.sleep(0.05)
"""


def read(outer: int, until: float) -> Iterator[bytes]:
    """Return all that is written to the terminal, to its end."""
    while time.monotonic() < until:
        if select.select([outer], [], [], 1.0)[0]:
            try:
                content = os.read(outer, 65536)
            except OSError:  # Linux: nobody has it open any more
                return
            if not content:
                return
            yield content


def run_on_terminal(tfperf: Tfperf, *options: str, seen: Callable[[bytes], bool]) -> str:
    """Run the script with stderr on a terminal and return what that got; "seen" is made once ``seen`` says so."""
    tfperf.script(SCRIPT)
    outer, inner = pty.openpty()
    ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    words, environment = warm_tfperf({**tfperf.environment, "TERM": "xterm-256color"}, own=True)
    command = [*words, "run", *options, "--steps-from", "step", "train.py"]
    take = "import fcntl, os, sys, termios; fcntl.ioctl(2, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
    with (tfperf.folder / "stdout").open("wb") as stdout:
        # In a session of its own, of which this terminal is the controlling one: so it is in the foreground.
        process = subprocess.Popen(
            [sys.executable, "-c", take, *command],
            cwd=tfperf.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=inner,
            start_new_session=True,
        )
    os.close(inner)
    told = b""
    for part in read(outer, time.monotonic() + 200):
        told += part
        if seen(told):
            Path(tfperf.folder, "seen").touch()
    os.close(outer)
    with suppress(subprocess.TimeoutExpired):
        process.wait(60)
    if process.poll() is None:
        process.kill()
        pytest.fail("it did not end")
    assert process.returncode == 0, told[-2000:]
    return told.decode(errors="replace")


def script_output(tfperf: Tfperf) -> list[str]:
    """The lines that the script printed."""
    return (tfperf.folder / "stdout").read_text().splitlines()


def test_it_draws_below_and_leaves_stdout_alone(tfperf: Tfperf) -> None:
    text = run_on_terminal(
        tfperf,
        "--live",
        "--probes",
        "retrace",
        seen=lambda told: b"median of the last" in told and b"1 retrace (" in told,
    )
    assert "\x1b[1;26r" in text and " tfperf " in text
    assert "median of the last" in text and "1 retrace (step, train.py:" in text
    before, _, after = text.rpartition("\x1b[r\x1b8")
    assert before and "\x1b[r" not in after
    assert "full report" in after  # the report, on the terminal as it was
    assert script_output(tfperf) == [f"mine {number}" for number in range(40)]


def test_one_line_has_the_first_finding_once_the_windows_have_closed(tfperf: Tfperf) -> None:
    text = run_on_terminal(tfperf, "--probes", "lines,retrace", seen=lambda told: ENDING.encode() in told)
    assert text.count("tfperf so far: ") == 1
    assert text.index("tfperf so far: ") < text.index("full report"), "it came before the report"
    assert script_output(tfperf) == [f"mine {number}" for number in range(40)]
