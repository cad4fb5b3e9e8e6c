"""``tfperf check`` on a real script: what it breaks, what it writes, and that nothing of it is left."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tfperf_runner import Tfperf

SCRIPT = """\
import tensorflow as tf

weights = tf.Variable(tf.random.normal([64, 64]))
optimizer = tf.keras.optimizers.SGD(0.01)


@tf.function
def train_step(x, scale):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(x, weights)) * scale
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


x = tf.random.normal([64, 64])
for number in range(200):
    loss = float(train_step(x, 1.0 + number % 5))
"""
BUDGET = """\
[tool.tfperf.budget]
retraces = 0
host_syncs_per_step = 0
graph_ops = 1000
findings = ["RET*"]
"""


def write(tfperf: Tfperf, script: str = SCRIPT, budget: str = BUDGET) -> None:
    tfperf.script(script)
    (tfperf.folder / "pyproject.toml").write_text(budget)


def test_a_script_that_goes_on_is_interrupted_and_has_not_failed(tfperf: Tfperf) -> None:
    write(tfperf, "import time\nwhile True:\n    time.sleep(0.1)\n")
    done = tfperf("check", "--interrupt-after", "3s", "--json", "out.json", "train.py")
    checked = json.loads((tfperf.folder / "out.json").read_text())
    assert done.returncode == 3 and "Runs were interrupted after 3 s, as asked." in checked["notes"], done.stderr
    assert "run" not in {each["name"] for each in checked["measures"]}


def test_a_script_that_breaks_its_budget(tfperf: Tfperf) -> None:
    write(tfperf)
    tfperf.warm = True
    files = [w for name in ("json", "markdown", "junit", "sarif") for w in ("--format", name, "-o", f"out.{name}")]
    done = tfperf("check", *files, "--format", "github", "train.py")
    assert done.returncode == 1, done.stderr
    checked = json.loads((tfperf.folder / "out.json").read_text())
    outcomes = {each["name"]: (each["outcome"], each["value"]) for each in checked["measures"]}
    assert outcomes["retraces"] == ("fail", 4)
    assert outcomes["host_syncs_per_step"][0] == "fail" and outcomes["findings RET*"][0] == "fail"
    assert outcomes["graph_ops"][0] == "pass"
    # Every form names the line.
    assert "::error file=train.py,line=7,title=budget/retraces" in done.stdout
    assert "FAIL       retraces in the run: 4, the budget is 0" in done.stderr
    results = json.loads((tfperf.folder / "out.sarif").read_text())["runs"][0]["results"]
    located = [each["locations"][0]["physicalLocation"] for each in results if "locations" in each]
    places = {each["region"]["startLine"] for each in located}
    assert {7, 17} <= places
    suite = ElementTree.parse(tfperf.folder / "out.junit").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "3")
    assert "| FAIL | retraces in the run | 4 | 0 | `train.py:7` |" in (tfperf.folder / "out.markdown").read_text()


def test_a_script_that_fails_is_a_failed_check(tfperf: Tfperf) -> None:
    write(tfperf, "raise SystemExit('no such data')\n")
    assert "running train.py with all probes" in tfperf("check", "train.py").stderr
    done = tfperf("check", "-q", "--json", "-", "train.py")
    assert done.returncode == 1 and "running train.py" not in done.stderr
    (measure,) = json.loads(done.stdout)["measures"]
    assert measure["says"] == "the script ended with exit status 1" and "| no such data" in done.stderr


@pytest.mark.parametrize(
    ("budget", "words", "says"),
    [
        ("", ("train.py",), "no [tool.tfperf.budget]"),
        ("[tool.tfperf.budget]\nspeed = 1\n", ("train.py",), "has no 'speed'"),
        (BUDGET, ("other.py",), "no such script: other.py"),
        (BUDGET, ("--time-limit", "soon", "train.py"), "--time-limit soon"),
        (BUDGET, ("--format", "sarif", "-o", "no/folder/x.sarif", "train.py"), "no such folder"),
        (BUDGET, ("--base", "HEAD", "train.py"), "Git"),
        (BUDGET, ("--bass", "HEAD", "train.py"), "--bass"),
    ],
)
def test_a_mistake_is_one_line(tfperf: Tfperf, budget: str, words: tuple[str, ...], says: str) -> None:
    write(tfperf, budget=budget)
    assert says in tfperf.refuses("check", *words)


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    done = subprocess.run(["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_struck_in_the_middle_it_leaves_nothing(tfperf: Tfperf, number: signal.Signals, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    write(tfperf, "import time\nopen(__file__ + '.there', 'w').close()\ntime.sleep(100)\n", "")
    git(tfperf.folder, "init", "-q")
    git(tfperf.folder, "add", "train.py")
    git(tfperf.folder, "commit", "-qm", "one")
    process = tfperf.start("check", "--base", "HEAD", "train.py", env={"TMPDIR": str(temporary)})
    for _ in range(2000):
        if list(tfperf.folder.rglob("train.py.there")):
            break
        time.sleep(0.1)
    assert git(tfperf.folder, "worktree", "list").count("\n") == 2
    process.send_signal(number)
    process.communicate(timeout=200)
    assert process.returncode == 128 + number
    assert git(tfperf.folder, "worktree", "list").count("\n") == 1
    assert list(temporary.iterdir()) == []
    left = subprocess.run(["ps", "-ax", "-o", "args"], capture_output=True, text=True).stdout
    assert str(temporary) not in left
