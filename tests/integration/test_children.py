"""``tfperf run --children``: real processes of every kind, and the report about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf

#: ``crunch`` works until there were so many samples as the tests need, by the processor's time.
WORK = """
import multiprocessing, os, signal, subprocess, sys, time

def crunch(seconds=0.5):
    until = time.process_time() + seconds
    total = 0
    while time.process_time() < until:
        total += sum(i * i for i in range(20_000))  # here
    return total
"""
HERE = next(number for number, line in enumerate(WORK.splitlines(), 1) if "# here" in line)


def recorded(tfperf: Tfperf, source: str, *options: str) -> dict[str, Any]:
    """The part ``children`` of the JSON report."""
    tfperf.script(WORK + source)
    done = tfperf("run", "--children", "--run-dir", "out", "--json", "report.json", *options, "train.py")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads((tfperf.folder / "report.json").read_text())
    children: dict[str, Any] = report["children"]
    return {**children, "text": done.stderr}


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_and_a_pool(tfperf: Tfperf, method: str) -> None:
    children = recorded(
        tfperf,
        f"""
if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    process = context.Process(target=crunch); process.start(); process.join()
    with context.Pool(2) as pool:
        pool.map(crunch, [0.3] * 4)
""",
    )
    assert children["count"] == 3
    process, *workers = children["processes"]
    assert (process["method"], process["target"].partition(":")[2]) == (method, "crunch")
    assert process["ended"] == "finished"
    assert {each["ended"] for each in workers} <= {"finished", "no goodbye"}  # a pool terminates those that don't end
    assert {group["label"] for group in children["groups"]} == {"crunch", "pool: crunch"}
    for each in children["groups"]:
        assert each["busy_s"] > 0 and each["cpu_s"] > 0
        assert HERE in [line["where"]["line"] for line in each["lines"]]
        assert each["lines"][0]["where"]["function"] == "crunch"
    assert "── children" in children["text"] and "crunch (train.py:" in children["text"]


def test_a_python_by_subprocess_and_a_fork_by_hand(tfperf: Tfperf) -> None:
    tfperf.script(WORK + "crunch()\nsys.exit(3)\n", "worker.py")
    children = recorded(
        tfperf,
        """
subprocess.run([sys.executable, "worker.py", "--rank", "1"])
subprocess.run([sys.executable, "worker.py"], env={**os.environ, "A": "b"})
subprocess.run(["true"])
pid = os.fork()
if not pid:
    crunch()
    os._exit(0)
os.waitpid(pid, 0)
""",
    )
    found = [(each["method"], each["command"], each["ended"]) for each in children["processes"]]
    assert found == [
        ("subprocess", "worker.py --rank 1", "finished"),
        ("subprocess", "worker.py", "finished"),
        ("fork", "", "no goodbye"),
    ]
    assert all(HERE in [line["where"]["line"] for line in each["lines"]] for each in children["processes"])


def test_who_is_killed_or_leaves_hard_keeps_what_it_had(tfperf: Tfperf) -> None:
    children = recorded(
        tfperf,
        """
def leave(how):
    crunch()
    if how == "hard": os._exit(7)
    if how == "killed": os.kill(os.getpid(), signal.SIGKILL)
    if how == "crashed": os.kill(os.getpid(), signal.SIGSEGV)
    if how == "raised": raise OSError(how)
if __name__ == "__main__":
    for how in ("hard", "killed", "crashed", "raised"):
        process = multiprocessing.get_context("fork").Process(target=leave, args=(how,))
        process.start(); process.join()
""",
    )
    assert [each["ended"] for each in children["processes"]] == [*["no goodbye"] * 3, "failed"]
    assert all(each["busy_s"] > 0 and each["cpu_s"] > 0 for each in children["processes"])


def test_children_of_children_daemons_and_threads_that_fork(tfperf: Tfperf) -> None:
    children = recorded(
        tfperf,
        """
import threading
def outer():
    process = multiprocessing.get_context("fork").Process(target=crunch, name="inner"); process.start(); process.join()
def start(target, **more):
    process = multiprocessing.get_context("fork").Process(target=target, **more); process.start(); process.join()
if __name__ == "__main__":
    start(outer, name="outer")
    start(crunch, name="daemon", daemon=True)
    thread = threading.Thread(target=start, args=(crunch,), kwargs={"name": "thread"}); thread.start(); thread.join()
""",
    )
    named = {each["process"]: each for each in children["processes"]}
    assert sorted(named) == ["daemon", "inner", "outer", "thread"]
    assert named["inner"]["parent"] == named["outer"]["part"] and not named["outer"]["parent"]
    assert named["outer"]["busy_s"] < named["inner"]["busy_s"]  # it waits


def test_hundreds_of_short_children_leave_bounded_files(tfperf: Tfperf) -> None:
    children = recorded(
        tfperf,
        """
def short(n): return n
if __name__ == "__main__":
    for n in range(40):
        process = multiprocessing.get_context("fork").Process(target=crunch, args=(0.02,)); process.start()
        process.join()
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        pool.map(short, range(100), chunksize=1)
""",
    )
    assert children["count"] >= 140
    parts = list((tfperf.folder / "out" / "children").iterdir())
    assert len(parts) == 33 and (tfperf.folder / "out" / "children" / "rest.jsonl").stat().st_size < 2_000_000
    whole = sum(bool(each["part"]) for each in children["processes"])
    assert whole == 32 and f"{whole} of them were recorded in whole" in children["text"]


def test_without_the_option_nothing_is_recorded(tfperf: Tfperf) -> None:
    tfperf.script(WORK + "\nprocess = multiprocessing.get_context('fork').Process(target=crunch)\nprocess.start()\n")
    done = tfperf("run", "--run-dir", "out", "train.py")
    assert done.returncode == 0 and "children" not in done.stderr
    assert not (tfperf.folder / "out" / "children").exists()


def test_a_run_directory_that_is_gone(tfperf: Tfperf, tmp_path: Path) -> None:
    tfperf.script(
        WORK + "import shutil\nshutil.rmtree('out')\n" + "if not os.fork(): crunch(); print('child')\nelse: os.wait()\n"
    )
    done = tfperf("run", "--children", "--run-dir", "out", "train.py")
    assert (done.returncode, done.stdout) == (0, "child\n")


LOADER = """
import numpy as np, os, time
import keras

def load(index):
    until = time.process_time() + 0.01
    while time.process_time() < until:
        values = np.sort(np.random.default_rng(index).normal(size=20_000))  # loads
    return values[:16].astype("float32")

class Images(keras.utils.PyDataset):
    def __len__(self): return 30
    def __getitem__(self, index): return np.stack([load(index)] * 4), np.zeros(4)

if __name__ == "__main__":
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(Images(workers=2, use_multiprocessing=True), epochs=2, verbose=0)
"""


def test_the_loader_processes_of_keras(tfperf: Tfperf) -> None:
    tfperf.script(LOADER)
    done = tfperf("run", "--children", "--run-dir", "out", "--json", "report.json", "--html", "page.html", "train.py")
    assert done.returncode == 0, done.stderr
    report = json.loads((tfperf.folder / "report.json").read_text())
    (group,) = report["children"]["groups"]
    assert group["label"] == "pool: __getitem__" and group["count"] >= 4  # two an epoch
    line = next(number for number, text in enumerate(LOADER.splitlines(), 1) if "# loads" in text)
    assert line in [each["where"]["line"] for each in group["lines"]]
    assert report["children"]["in_steps"]["processes"] >= 2 and report["steps"]["count"] == 60
    assert "child processes work for" in done.stderr and "load (train.py:" in done.stderr
    assert "pool: __getitem__" in (tfperf.folder / "page.html").read_text()
    assert tfperf("report", "out", "--format", "markdown").returncode == 0
    assert "it is in the report of" in tfperf.refuses("report", "out/children/child-0001")


def test_children_that_train_have_reports(tfperf: Tfperf) -> None:
    children = recorded(
        tfperf,
        """
def train(steps):
    import tensorflow as tf
    w = tf.Variable(1.0)
    optimizer = tf.keras.optimizers.SGD(0.01)
    for n in range(steps):
        with tf.GradientTape() as tape: loss = (w - 2) ** 2
        optimizer.apply([tape.gradient(loss, w)], [w])
if __name__ == "__main__":
    for method, steps in (("fork", 20), ("spawn", 30)):
        process = multiprocessing.get_context(method).Process(target=train, args=(steps,)); process.start()
        process.join()
""",
    )
    forked, spawned = children["processes"]
    assert (forked["trains"], forked["steps"], forked["ended"]) == (True, 20, "finished")
    assert (spawned["trains"], spawned["steps"], spawned["ended"]) == (True, 30, "finished")
    done = tfperf("report", f"out/{forked['part']}")
    assert done.returncode == 0 and "20 steps" in done.stdout
