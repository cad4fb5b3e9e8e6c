"""Nothing is lost: killed, left by os._exit, on a full disk, in folders that vanish. And what is missing is said."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tfperf_runner import Tfperf

#: Some seconds of steps that cost nothing, then what the test is about.
TRAIN = """
import os, sys
import tensorflow as tf
assert tf.config.list_physical_devices("CPU")
from tensorflow.python.eager import context
assert context._context is None or not context.context()._initialized, "someone woke TensorFlow"
tf.config.threading.set_intra_op_parallelism_threads(1)
v = tf.Variable([1., 2.])
optimizer = tf.keras.optimizers.SGD(.001)
@tf.function
def step():
    with tf.GradientTape() as tape: loss = tf.reduce_sum(v * v)
    optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    return loss
def train(steps):
    for n in range(steps): loss = step()
    return loss
def wait_for(condition):
    import time
    while not condition(): time.sleep(.05)
def written(steps):  # the calls of step, the first site that there was
    return open('r/records.jsonl', 'rb').read().count(b'["session/markers",[1,') >= steps
def held():  # by tfperf: all that there is
    fds = f'/proc/{os.getppid()}/fd'
    open_there = {os.stat(f'{fds}/{fd}').st_ino for fd in os.listdir(fds) if os.path.exists(f'{fds}/{fd}')}
    names = [os.path.join(folder, name) for folder, _, files in os.walk('r') for name in files]
    return {os.stat(name).st_ino for name in names if '/.' not in name} <= open_there
"""


def _text(shown: str) -> str:
    """The report without its line breaks."""
    return " ".join(shown.split())


def _document(tfperf: Tfperf, name: str) -> Any:
    return json.loads(tfperf("report", name, "--json", "-").stdout)


def test_killed_while_training(tfperf: Tfperf) -> None:
    tfperf.warm = True
    tfperf.script(
        TRAIN + "train(200)\nwait_for(lambda: written(200))\nprint('x', flush=True)\nos.kill(os.getpid(), 9)\n"
    )
    done = tfperf("run", "--probes", "retrace", "--run-dir", "r", "train.py")
    assert (done.returncode, done.stdout) == (128 + signal.SIGKILL, "x\n")
    assert "ended abruptly (killed)" in _text(done.stderr)
    document = _document(tfperf, "r")
    assert (document["run"]["status"], document["run"]["exit_code"]) == ("killed", 137)
    assert document["steps"]["count"] == 200


def test_a_call_that_raises_is_no_step(tfperf: Tfperf) -> None:
    tfperf.warm = True
    fails = "@tf.function\ndef broken(n):\n    tf.debugging.assert_less(n, 30)\n    return step()\n"
    tfperf.script(TRAIN + fails + "for n in range(60):\n    broken(tf.constant(n))\n")
    done = tfperf("run", "--probes", "retrace", "--run-dir", "r", "train.py")
    assert done.returncode == 1 and "InvalidArgumentError" in done.stderr
    document = _document(tfperf, "r")
    assert (document["run"]["status"], document["steps"]["count"]) == ("failed", 30)


def test_hard_exit_and_a_run_directory_that_is_cut_short(tfperf: Tfperf) -> None:
    tfperf.warm = True
    tfperf.script(TRAIN + "train(150)\nwait_for(lambda: written(150))\nos._exit(7)\n")
    done = tfperf("run", "--probes", "retrace", "--run-dir", "r", "train.py")
    assert done.returncode == 7
    assert _document(tfperf, "r")["steps"]["count"] == 150
    records = tfperf.folder / "r" / "records.jsonl"
    content = records.read_bytes()
    markers = [found.start() for found in re.finditer(rb'^\["session/markers"', content, re.MULTILINE)]
    records.write_bytes(content[: markers[len(markers) // 2] + 20])
    document = _document(tfperf, "r")
    assert 50 <= document["steps"]["count"] < 150
    for path in sorted((tfperf.folder / "r").rglob("*.json*")):
        if path.name != "run.json":
            path.write_bytes(path.read_bytes()[:-5] + b"\xff{")
    again = tfperf("report", "r")
    assert (again.returncode, again.stderr) == (0, "")
    assert "killed" in again.stdout


@pytest.fixture
def small_disk(tfperf: Tfperf) -> Iterator[Path]:
    folder = tfperf.folder / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_disk_that_fills(tfperf: Tfperf, small_disk: Path) -> None:
    tfperf.warm = True
    tfperf.script(TRAIN + "print(float(train(3000)) > 0)\nraise SystemExit(3)\n")
    done = tfperf("run", "--full", "--probes", "retrace", "--json", "o.json", "--run-dir", "small/r", "train.py")
    assert (done.returncode, done.stdout) == (3, "True\n")
    assert "markers.jsonl is incomplete: No space left on device" in _text(done.stderr)
    run = json.loads((tfperf.folder / "o.json").read_bytes())["run"]
    assert (run["status"], run["exit_code"]) == ("failed", 3)
    assert "abruptly" not in done.stderr


def test_a_limit_on_the_size_of_files(tfperf: Tfperf) -> None:
    tfperf.warm = True
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
    tfperf.script(TRAIN + limit + "print(float(train(3000)) > 0)\n")
    done = tfperf("run", "--full", "--probes", "retrace", "train.py")
    assert (done.returncode, done.stdout) == (0, "True\n")
    assert "markers.jsonl is incomplete: File too large" in _text(done.stderr)


def test_a_run_directory_that_vanishes(tfperf: Tfperf) -> None:
    """It is written back from what was open, once the script has ended; not while it may make a folder of that name."""
    gone = "import os, shutil\nshutil.rmtree('r')\ntrain(400)\ntime.sleep(1.5)\nprint(os.path.exists('r'))\n"
    tfperf.script(
        TRAIN + "import time\ntrain(200)\nwait_for(lambda: written(200) and held())\n" + gone + "raise SystemExit(3)\n"
    )
    done = tfperf("run", "--probes", "retrace,tfprof", "--run-dir", "r", "train.py")
    assert (done.returncode, done.stdout) == (3, "False\n")
    assert "tfperf: the run directory was removed while the script ran; written back:" in done.stderr
    assert "Traceback" not in done.stderr
    document = _document(tfperf, "r")
    assert (document["run"]["exit_code"], document["steps"]["count"]) == (3, 600)


def test_a_run_directory_that_can_be_written_no_more(tfperf: Tfperf) -> None:
    """Root may write everywhere, so the folder becomes a file's name: nothing new can be made in it."""
    tfperf.warm = True
    tfperf.script(
        TRAIN + "train(50)\nwait_for(lambda: written(50))\nos.rename('r', 's')\nopen('r', 'w').close()\ntrain(50)\n"
        "raise SystemExit(3)\n"
    )
    done = tfperf("run", "--probes", "retrace", "--run-dir", "r", "train.py")
    assert (done.returncode, done.stdout) == (3, "")
    assert re.search(r"^tfperf: .*not a run directory", done.stderr, re.M) and "Traceback" not in done.stderr
    assert _document(tfperf, "s")["steps"]["count"] == 100


def test_a_json_folder_that_vanishes_does_not_cost_the_report(tfperf: Tfperf) -> None:
    (tfperf.folder / "out").mkdir()
    tfperf.script("import shutil\nshutil.rmtree('out')\nraise SystemExit(3)\n")
    done = tfperf("run", "--probes", "none", "--json", "out/o.json", "train.py")
    assert done.returncode == 3
    assert "never imported TensorFlow" in _text(done.stderr)
    assert "tfperf: can't write" in done.stderr and "the run's data:" in done.stderr


def test_a_working_folder_that_vanishes(tfperf: Tfperf) -> None:
    here = tfperf.folder / "here"
    script = tfperf.script("import os, shutil\nshutil.rmtree(os.getcwd())\nprint('ran')\n", "train.py")
    here.mkdir()
    done = tfperf("run", "--probes", "none", script, cwd=here)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "Traceback" not in done.stderr
    assert "never imported TensorFlow" in _text(done.stderr)


def test_a_report_file_on_a_full_disk(tfperf: Tfperf) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    tfperf.script("print('ran')\nraise SystemExit(3)\n")
    done = tfperf("run", "--probes", "none", "--output", "/dev/full", "--json", "o.json", "train.py")
    assert (done.returncode, done.stdout) == (3, "ran\n")
    assert "No space left on device" in done.stderr and "Traceback" not in done.stderr
    assert json.loads((tfperf.folder / "o.json").read_bytes())["run"]["exit_code"] == 3


@pytest.mark.parametrize(
    "source",
    ["__version__ = '7.0'\n", "__version__ = None\n", "import sys\nsys.modules[__name__] = type('Odd', (), {})()\n"],
    ids=["of another time", "without a version", "not even a module"],
)
def test_a_tensorflow_that_we_do_not_know(tfperf: Tfperf, source: str) -> None:
    tfperf.script(source, "tensorflow/__init__.py")
    tfperf.script("import tensorflow\nprint('ran', type(tensorflow).__name__)\nraise SystemExit(3)\n")
    plain = subprocess.run([tfperf.python, "train.py"], cwd=tfperf.folder, capture_output=True, text=True)
    done = tfperf("run", "--probes", "all", "train.py")
    assert (done.returncode, done.stdout) == (3, plain.stdout)
    assert "Traceback" not in done.stderr
    if "Odd" not in source:
        assert "traces can't be seen in this TensorFlow" in _text(done.stderr)


def test_what_is_missing_in_the_interpreter_is_said(tfperf: Tfperf) -> None:
    """Our own parts can't be imported in the script's process: it trains, and the report has the reason."""
    tfperf.script("__version__ = '2.99'\n", "scripts/tensorflow.py")
    tfperf.script("raise ImportError('a broken installation')\n", "scripts/msgspec.py")
    tfperf.script("import tensorflow\nprint('ran')\n", "scripts/train.py")
    done = tfperf("run", "--probes", "none", "scripts/train.py")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert "Nothing could be recorded: ImportError: a broken installation" in _text(done.stderr)
