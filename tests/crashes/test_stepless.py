"""Scripts without a training step, with windows by time that are many and short: they live, and say what they say.

Five runs of four parts each in ``make test``, 300 in ``make test-long`` (as many as ``TFPERF_STEPLESS``). A run's
number decides everything, so that one that failed can be run again: ``TFPERF_STEPLESS=57 pytest tests/crashes -k "57
"``.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from warm import run_warm
from warm_run import warm_tfperf

from tfperfkit.storage.run_directory import RunDirectory

HERE = Path(__file__).parent
IN_CI = 5
#: Twenty times what it takes; the machines are shared.
TIMEOUT_S = 900
NUMBER = int(os.environ.get("TFPERF_STEPLESS", "300" if os.environ.get("TFPERF_LONG") else IN_CI))
PARTS = re.findall(r"^def (\w+)\(\) -> float:", (HERE / "stepless.py").read_text(), re.MULTILINE)
#: Those that open windows, alone and together.
PROBES = ("default", "tfprof,devices", "lines,tfprof", "lines,devices", "lines,tfprof,devices", "tfprof", "devices")


@dataclasses.dataclass(frozen=True)
class Run:
    number: int
    seed: int
    parts: tuple[str, ...]
    probes: str
    environ: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.number} {' '.join(self.parts)} with {self.probes}"


def run(number: int) -> Run:
    """The ``number``-th run. The first ones have every part in turn."""
    dice = random.Random(number)
    if number < IN_CI:
        parts = tuple(PARTS[(4 * number + turn) % len(PARTS)] for turn in range(4))
    else:
        parts = tuple(dice.choice(PARTS) for _ in range(dice.randint(3, 6)))
    environ = {
        "HURRIED_WINDOW_MS": str(dice.choice((1, 20, 100, 400))),
        "HURRIED_PATIENCE_MS": str(dice.choice((1, 300))),
    }
    if dice.random() < 0.5:  # else ours is on while a window is
        environ["PYTHONFAULTHANDLER"] = "1"
    if dice.random() < 0.2:
        environ["PYTHONMALLOC"] = "debug"
    probes = "default" if number % 2 == 0 else dice.choice(PROBES)
    return Run(number, number % 2 if number >= IN_CI else 0, parts, probes, tuple(environ.items()))


def plain(environ: dict[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TFPERF_", "PYTHON"))}
    return {**kept, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "COLUMNS": "100", **environ}


def completed(
    arguments: list[str], folder: Path, environ: dict[str, str], *, forked: bool = True
) -> subprocess.CompletedProcess[str]:
    """``tfperf`` with these arguments."""
    tfperf, asked = [sys.executable, "-m", "tfperfkit"], plain(environ)
    if forked:
        tfperf, asked = warm_tfperf(asked)
    command = [*tfperf, *arguments]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=asked,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, error = process.communicate(timeout=TIMEOUT_S)
        except BaseException:
            os.killpg(process.pid, signal.SIGABRT)  # the script outlives tfperf; its stacks are in what it leaves
            output, error = process.communicate()
            raise AssertionError(f"it did not end: {output}{error}") from None
    return subprocess.CompletedProcess(command, process.returncode, output, error)


def hurried(
    command: list[str], probes: str, folder: Path, environ: dict[str, str], *, forked: bool = True
) -> subprocess.CompletedProcess[str]:
    environ = {"TFPERF_RUNS": str(folder / "runs"), "PYTHONPATH": str(HERE / "hurried"), **environ}
    words = ["run", "--probes", probes, "--run-dir", str(folder / "r"), *command]
    return completed(words, folder, environ, forked=forked)


def events(folder: Path, kind: str) -> list[Any]:
    rows = RunDirectory.open(folder / "r")[0].records("session/events.jsonl")
    return [row for row in rows if row["kind"] == kind]


def plainly(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Under plain Python."""
    done = run_warm((HERE / script).read_text(), HERE, *arguments, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    return done


@functools.cache
def said(seed: int) -> dict[str, str]:
    """Return the output of each part under plain Python."""
    without = plainly("stepless.py", str(seed), *PARTS)
    return {line.partition(" ")[0]: line for line in without.stdout.splitlines(keepends=True)}


@pytest.mark.timeout(2 * TIMEOUT_S)
@pytest.mark.parametrize("item", [run(number) for number in range(NUMBER)], ids=str)
def test_it_lives(item: Run, tmp_path: Path) -> None:
    expected = "".join(said(item.seed)[part] for part in item.parts)
    command = [str(HERE / "stepless.py"), str(item.seed), *item.parts]
    under = hurried(command, item.probes, tmp_path, dict(item.environ))
    assert (under.returncode, under.stdout) == (0, expected), under.stderr
    assert "Fatal Python error" not in under.stderr and "a fault of tfperf" not in under.stderr
    assert events(tmp_path, "opened"), under.stderr  # how many depends on how long the parts take
    failed = [event for event in events(tmp_path, "probe") if event["status"] == "failed"]
    assert not failed


def test_every_part_has_its_turn_in_ci() -> None:
    assert {part for number in range(IN_CI) for part in run(number).parts} == set(PARTS)


@pytest.mark.timeout(2 * TIMEOUT_S)
def test_the_script_that_died(tmp_path: Path) -> None:
    """Of SIGSEGV, each time: the window of ``devices`` was asked for while that of ``tfprof`` was being closed."""
    command = [str(HERE / "recommend.py"), "12"]
    without = plainly("recommend.py", "12")
    environ = {"HURRIED_PATIENCE_MS": "500", "HURRIED_WINDOW_MS": "300", "HURRIED_AGAIN": "0"}
    under = hurried(command, "tfprof,devices", tmp_path, environ, forked=False)  # as it died
    assert (under.returncode, under.stdout) == (0, without.stdout), under.stderr
    assert [event["probe"] for event in events(tmp_path, "opened")] == ["tfprof", "devices"]
    assert [event["status"] for event in events(tmp_path, "window_end")] == ["ok", "ok"]


@pytest.mark.timeout(2 * TIMEOUT_S)
def test_where_no_point_comes_the_report_says_so(tmp_path: Path) -> None:
    command = [str(HERE / "one_call.py")]
    without = plainly("one_call.py")
    under = hurried(command, "tfprof,devices", tmp_path, {"HURRIED_AGAIN": "0"})
    assert (under.returncode, under.stdout) == (0, without.stdout), under.stderr
    assert [event["probe"] for event in events(tmp_path, "opened")] == ["tfprof"]  # on a thread of ours
    said = " ".join(under.stderr.split())
    assert said.count("the main thread was always within an operation") == 1
