"""Watch mode in real processes: one run is watched, poked, signalled, reported on while it trains, and ended."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from tfperf_runner import Tfperf

from tfperfkit.analysis.step_table import read_steps
from tfperfkit.storage.run_directory import RunDirectory

#: Trains until the file "stop" is there; says when it has made steps. A thread of it forks meanwhile.
SCRIPT = """
import os, sys, threading, time
import tensorflow as tf

def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)

w = tf.Variable(tf.zeros([4, 4]))

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((x @ w) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))

x, step = tf.ones([4, 4]), 0
while not os.path.exists("stop"):
    train_step(x)
    step += 1
    if step == 30:
        threading.Thread(target=fork).start()
    if step == 50:
        print("trains", flush=True)
    time.sleep(0.002)
print("steps", step)
"""


def _wait(for_what: Callable[[], Any]) -> Any:
    """Until it is there; the test's own limit of time ends a wait in vain."""
    while not (found := for_what()):
        time.sleep(0.1)
    return found


class Watched:
    """Return what was seen of the run."""

    def __init__(self, tfperf: Tfperf) -> None:
        self.run = tfperf.folder / "watched"
        tfperf.script(SCRIPT)
        words = ("run", "--probes", "lines,retrace", "--run-dir", "watched", "train.py")
        process = tfperf.start(*words, env={"TFPERF": "watch"})  # a stand-in for the script would catch the signal
        assert process.stdout is not None
        first = process.stdout.readline()
        self.poked = tfperf("poke", "watched")
        _wait((self.run / "windows/001/end.json").exists)
        os.kill(process.pid, signal.SIGUSR2)
        _wait((self.run / "windows/002/end.json").exists)
        trained = json.loads((self.run / "agent.json").read_text())["pid"]
        os.kill(trained, signal.SIGSTOP)  # as a debugger that is attached does
        time.sleep(1)
        os.kill(trained, signal.SIGCONT)
        self.while_it_runs = tfperf("report", "watched", "--json", "-")
        self.window = tfperf("report", "watched/windows/001", "--json", "-")
        (tfperf.folder / "stop").touch()
        out, self.err = process.communicate(timeout=200)
        self.out = first + out
        self.status = process.returncode
        self.poked_late = tfperf("poke", "watched")
        self.report = tfperf("report", "watched", "--json", "-")
        self.text = tfperf("report", "watched", env={"COLUMNS": "240"}).stdout


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    yield Watched(Tfperf(tmp_path_factory.mktemp("watched")))


def _document(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_the_script_ran_as_ever(watched: Watched) -> None:
    assert watched.status == 0
    assert watched.out.startswith("trains\nsteps ")


def test_the_steps_are_all_counted_and_nothing_but_asked_windows_opened(watched: Watched) -> None:
    report = _document(watched.report)
    assert report["steps"]["count"] == int(watched.out.split()[-1])
    assert report["windows"] == []
    history = report["history"]
    assert sum(period["steps"] for period in history["periods"]) >= report["steps"]["count"] - 5
    assert [window["why"] for window in history["windows"]] == ["poke", "signal"]
    assert not any(window["refused"] for window in history["windows"])
    assert [change["why"] for change in history["changes"]] == ["signal"]


def test_a_poke_says_what_comes(watched: Watched) -> None:
    assert watched.poked.returncode == 0
    assert watched.poked.stdout.endswith("tfperf report watched/windows/001\n")
    assert watched.poked_late.returncode == 2
    assert watched.poked_late.stderr == "tfperf: watched has ended: there is nothing to look at any more\n"


def test_a_window_is_a_run_of_its_own(watched: Watched) -> None:
    window = _document(watched.window)
    assert window["run"]["status"] == "finished"
    (lines,) = window["probes"]
    assert (lines["name"], lines["status"]) == ("lines", "ok")
    assert {name["function"] for name in lines["data"]["python_functions"]} == {"<module>"}
    assert window["steps"]["clean"] > 20
    assert [each["name"] for each in window["windows"]] == ["lines"]


def test_a_report_comes_while_it_runs(watched: Watched) -> None:
    report = _document(watched.while_it_runs)
    assert report["run"]["status"] == "running"
    assert report["steps"]["count"] > 50
    assert len(report["history"]["windows"]) == 2


def test_a_person_reads_it(watched: Watched) -> None:
    assert "over time" in watched.text
    assert "asked for by tfperf poke" in watched.text
    assert "asked for by a signal (SIGUSR2)" in watched.text
    assert "watched/windows/002" in watched.text


#: The ring of details is so small that steps in between are dropped, as after hours. Work goes by steps, not by time,
#: and the rows of the steps alone fill the ring: a fast machine has fewer samples.
SMALL = {"TFPERF_WATCH_PLAN": "block_s=0.05 details_mb=0.12"}

#: Waiting code is slower by as much on a busy machine too. The rest of a step waits as well: so the first steps, of
#: which few are kept, have enough samples on a fast machine, some at the line that grows and most at another.
SLOWING = """
import select, time
import tensorflow as tf
w = tf.Variable(tf.zeros([4, 4]))

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((x @ w) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss

def look_at(history):
    for number in range(1 + len(history) // 40):
        select.select([], [], [], 0.001)

kept = [0.0]
for step in range(1000):
    loss = train_step(tf.ones([4, 4]))
    kept.append(float(loss))
    look_at(kept)
    time.sleep(0.005)
"""

PERIODIC = """
import tensorflow as tf
w = tf.Variable(tf.zeros([4, 4]))

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((x @ w) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))

def refresh():
    return sum(number * number for number in range(500_000))

for step in range(3000):
    train_step(tf.ones([4, 4]))
    if step % 50 == 0:
        table = refresh()
"""


def _run_with_gaps(tfperf: Tfperf, script: str, steps: int) -> dict[str, Any]:
    tfperf.warm = True
    tfperf.script(script)
    done = tfperf("run", "--long-run", "--probes", "retrace", "--run-dir", "r", "train.py", env=SMALL)
    assert done.returncode == 0, done.stderr
    report = _document(tfperf("report", "r", "--json", "-"))
    assert report["steps"]["count"] == steps
    assert report["history"]["dropped_steps"] > steps / 10
    return report


def test_steps_that_grow_slower_while_not_all_are_kept(tfperf: Tfperf) -> None:
    report = _run_with_gaps(tfperf, SLOWING, 1000)
    found = {each["code"]: each for each in report["findings"]}
    assert "STP007" in found, (report["headline"], report["steps"]["account"])
    assert "select.select" in SLOWING.splitlines()[found["STP007"]["where"][0]["line"] - 1]


def test_kept_steps_have_the_numbers_that_they_had_in_the_run(tfperf: Tfperf) -> None:
    """Every 50th does some fifty times the work of another: the work after the first call counts to the second step.
    Finding STP008 in such steps is tested on made ones, because other work on the machine makes other steps long too.
    """
    _run_with_gaps(tfperf, PERIODIC, 3000)
    kept = read_steps(RunDirectory(tfperf.folder / "r"), cast(Any, [])).steps
    taken: dict[bool, list[int]] = {True: [], False: []}
    for step, following in zip(kept, kept[1:], strict=False):
        if following.number == step.number + 1:
            taken[step.number % 50 == 2].append(following.begin_ns - step.begin_ns)
    assert len(taken[True]) > 3
    assert statistics.median(taken[True]) > 5 * statistics.median(taken[False])


def test_a_signal_that_the_script_uses_is_the_scripts(tfperf: Tfperf) -> None:
    tfperf.script(
        "import signal, time\n"
        "had = []\n"
        "signal.signal(signal.SIGUSR2, lambda *_: had.append(1))\n"
        "print('ready', flush=True)\n"
        "while not had: time.sleep(0.05)\n"
        "print('had it', flush=True)\n"
    )
    process = tfperf.start("run", "--long-run", "--run-dir", "used", "train.py")
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGUSR2)
    out, _ = process.communicate(timeout=200)
    assert (process.returncode, out) == (0, "had it\n")
    assert not (tfperf.folder / "used/changes.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "environment", "says"),
    [
        (("run", "train.py"), {"TFPERF": "wtach"}, "TFPERF=wtach: it takes watch, or nothing"),
        (("run", "--long-run", "train.py"), {"TFPERF_WATCH_PLAN": "block_s=x"}, "it takes block_s=SECONDS"),
        (("run", "--long-run", "train.py"), {"TFPERF_WATCH_PLAN": "blocks=1"}, "it takes block_s=SECONDS"),
        (("run", "--long-run", "--window", "lines=5:5", "train.py"), {}, "only when something changes"),
        (("run", "--long-run", "--live", "train.py"), {}, "--live does not draw a run that is watched"),
        (("poke", "no-such-run"), {}, "no such run: no-such-run"),
    ],
)
def test_mistakes_are_one_line(tfperf: Tfperf, words: tuple[str, ...], environment: dict[str, str], says: str) -> None:
    tfperf.script("")
    assert says in tfperf.refuses(*words, env=environment)


def test_a_run_that_is_not_watched_can_not_be_poked(tfperf: Tfperf) -> None:
    tfperf.script("")
    assert tfperf("run", "--run-dir", "plain", "train.py").returncode == 0
    assert "plain is not watched" in tfperf.refuses("poke", "plain")
    assert not (Path(tfperf.folder) / "plain/asked.json").exists()


#: Trains on while the disk of its recording is full, and when there is room again.
FULL = """
import os, time
import tensorflow as tf
w = tf.Variable(tf.zeros([4, 4]))

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((x @ w) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))

def train(seconds):
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        train_step(tf.ones([4, 4]))
        count += 1
        time.sleep(0.005)
    return count

steps = train(1)
with open("small/filling", "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(4096))
    except OSError:
        pass
steps += train(3)
os.remove("small/filling")
steps += train(1)
print("steps", steps)
"""


def test_a_disk_that_is_full_for_a_while(tfperf: Tfperf) -> None:
    folder = tfperf.folder / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("needs the right to mount a file system")
    try:
        tfperf.warm = True
        tfperf.script(FULL)
        words = ("run", "--long-run", "--probes", "retrace", "--run-dir", "small/r", "train.py")
        done = tfperf(*words, env={"TFPERF_WATCH_PLAN": "block_s=0.2"})
        assert (done.returncode, done.stdout.split()[0]) == (0, "steps")
        report = _document(tfperf("report", "small/r", "--json", "-"))
        steps = int(done.stdout.split()[1])
        assert report["steps"]["count"] == steps
        assert steps - 5 <= sum(period["steps"] for period in report["history"]["periods"]) <= steps
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
