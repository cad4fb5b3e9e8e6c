"""``tfperf try`` and ``prove``: real trials of real scripts, few and short. No time is asserted."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from tfperf_runner import Tfperf

TRAIN = """
import sys
import numpy as np, tensorflow as tf, keras
rows = np.random.rand(640, 4).astype("float32")
data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(8)
model = keras.Sequential([keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD()

def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss

def report(loss):
    open("made by the script.txt", "a").write("x")

for x, y in data:
    report(train_step(x, y))
"""


def measured(tfperf: Tfperf, *words: str, env: dict[str, str] | None = None) -> dict[str, dict[str, object]]:
    done = tfperf("try", "--together", "--steps", "12", "--time-limit", "1s", "--json", "-", *words, env=env or {})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert document["baseline"]["unit"] == "step" and document["baseline"]["batch_size"] == 8
    return {item["experiment"]: item for item in document["measured"]}


EARLY = """
def load():
    return [0.5]

class Rows:
    @staticmethod
    def size(x):
        return x
"""


def test_functions_are_changed_and_nothing_is_left(tfperf: Tfperf, tmp_path: Path) -> None:
    """Those too that are defined before TensorFlow is imported."""
    tfperf.script(EARLY, "early.py")
    tfperf.script(
        "import early\n"
        + TRAIN.replace("train_step(x, y))", "train_step(x, y * early.load()[0] * early.Rows.size(2)))")
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    text = "graph:train_step + once:load + once:Rows.size"
    words = [word for each in text.split(" + ") for word in ("--with", each)]
    item = measured(tfperf, *words, "train.py", env={"TMPDIR": str(temporary)})[text]
    assert item["verdict"] == "undecided" and item["pairs"] == 1  # one second is over at once
    assert item["results"] in ("same bits", "rounding")
    assert item["speedup"] and item["interval"] is None
    assert os.listdir(temporary) == []
    assert not (tmp_path / "made by the script.txt").exists()
    assert not list(tfperf.runs.glob("*"))


@pytest.mark.long
def test_several_changes_at_once(tfperf: Tfperf) -> None:
    tfperf.script(TRAIN)
    words = [word for text in ("graph:train_step", "batch=x2", "without:report") for word in ("--with", text)]
    (item,) = measured(tfperf, *words, "train.py").values()
    assert item["keeps"] == "ceiling" and item["verdict"] == "undecided"


@pytest.mark.long
def test_what_does_not_apply_says_why(tfperf: Tfperf) -> None:
    tfperf.script(TRAIN)
    item = measured(tfperf, "--with", "jit", "train.py")["jit"]
    assert item["verdict"] == "not applicable" and item["reason"]
    item = measured(tfperf, "--with", "env:KERAS_BACKEND=nonsense", "train.py")["env:KERAS_BACKEND=nonsense"]
    assert item["verdict"] == "failed" and "nonsense" in str(item["reason"])


@pytest.mark.long
def test_a_run_is_proven_and_its_report_says_so(tfperf: Tfperf) -> None:
    tfperf.script(TRAIN.replace(".batch(8)", ".batch(8).repeat(3)"))
    done = tfperf("run", "--try", "--run-dir", "r", "train.py")
    assert done.returncode == 0
    assert "trials of train.py" in done.stderr
    report = json.loads(tfperf("report", "r", "--json", "-").stdout)
    (finding,) = [item for item in report["findings"] if item["code"] == "EAG001"]
    assert finding["measured"]["experiment"] == "patch:EAG001"  # what tfperf fix writes, in the trial's view alone
    assert finding["measured"]["verdict"] in ("faster", "undecided")
    assert finding["measured"]["results"] in ("same bits", "rounding")
    assert "patch:EAG001" in tfperf("report", "r").stdout
    assert "@tf.function" not in (tfperf.folder / "train.py").read_text()


def test_mistakes_are_one_line(tfperf: Tfperf) -> None:
    tfperf.script("raise ValueError('as it is')\n")
    assert "did you mean 'jit'" in tfperf.refuses("try", "train.py", "--with", "jti")
    assert "nothing to try" in tfperf.refuses("try", "train.py")
    assert "no such script" in tfperf.refuses("try", "tarin.py", "--with", "jit")
    assert "--time-limit" in tfperf.refuses("try", "train.py", "--with", "jit", "--time-limit", "soon")
    assert "ValueError: as it is" in tfperf.refuses("try", "train.py", "--with", "jit")
    assert "no such run" in tfperf.refuses("try", "nothing")


def test_the_experiments_are_listed(tfperf: Tfperf) -> None:
    done = tfperf("list", "experiments")
    assert done.returncode == 0
    assert "threads=INTRA,INTER" in done.stdout and "[no fix, a ceiling]" in done.stdout


SLEEPS = """
import os, subprocess, sys, time
open("pids", "w").close()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)  # {mark}"], start_new_session=True)
print("under way", file=open(os.environ["MARK"], "w"))
time.sleep(600)  # {mark}
"""


def processes(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in words:
            found.append(words.decode(errors="replace"))
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_whatever_strikes_nothing_of_a_trial_is_left(tfperf: Tfperf, tmp_path: Path, number: signal.Signals) -> None:
    mark = f"tfperf-test-{os.getpid()}-{number}"
    tfperf.script(SLEEPS.replace("{mark}", mark), f"{mark}.py")
    temporary, begun = tmp_path / "temporary", tmp_path / "elsewhere" / "begun"
    temporary.mkdir()
    begun.parent.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / f"{mark}.py").rename(work / f"{mark}.py")
    environment = {"TMPDIR": str(temporary), "MARK": str(begun)}
    process = tfperf.start("try", "--with", "prefetch", f"{mark}.py", env=environment, cwd=work)
    _until(begun.exists)
    overlaid = not (work / "pids").exists()
    process.send_signal(number)
    shown = process.communicate(timeout=200)[0]
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert "Interrupted: this is what had been measured." in shown
    _until(lambda: os.listdir(temporary) == [])
    assert os.listdir(work) == [f"{mark}.py"]
    if overlaid and "copy" not in str(work):
        _until(lambda: not processes(mark))


def _until(condition: object) -> None:
    for _ in range(4000):
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.05)
    raise AssertionError(condition)


FIT = """
import numpy as np, tensorflow as tf, keras
tf.config.threading.set_intra_op_parallelism_threads(2)
rows = np.random.rand(500, 4).astype("float32")
data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).map(lambda x, y: (x * 2, y)).shuffle(500).batch(8)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"], run_eagerly=True)
model.predict(rows[:2], verbose=0)
model.fit(data, epochs=9, verbose=0)
"""


@pytest.mark.long
def test_all_seams_of_fit_and_datasets_are_there(tfperf: Tfperf) -> None:
    tfperf.script(FIT)
    texts = [
        "parallel",
        "cache",
        "shuffle=8",
        "last-batch=drop",
        "batch=x2",
        "prefetch",
        "input=first-batch",
        "jit=off",
    ]
    texts += ["eager-switch", "threads=1,1", "metrics=off", "predict-as-call", "steps-per-execution=4", "onednn=off"]
    words = [word for text in texts for word in ("--with", text)]
    done = tfperf("try", "--together", "--steps", "16", "--time-limit", "1s", "--json", "-", *words, "train.py")
    (item,) = json.loads(done.stdout)["measured"]
    assert (item["verdict"], item["reason"]) == ("undecided", "one pair tells nothing of its spread"), item


LOOP = """
import numpy as np, tensorflow as tf, keras

class Options:
    def __init__(self, weight):
        self.weight = weight

def scale(x):
    return (x - 0.5) / 2.0

rows = np.random.default_rng(0).random((640, 4)).astype("float32")
data = tf.data.Dataset.from_tensor_slices(rows).map(scale).shuffle(100).batch(8)
lengths = (np.ones(3 + i % 40, "float32") for i in range(640))
words = tf.data.Dataset.from_generator(lambda: lengths, output_signature=tf.TensorSpec([None])).padded_batch(8)
model = keras.Sequential([keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD()

@tf.function
def train_step(x, n, options):
    with tf.GradientTape() as tape:
        loss = options.weight * tf.reduce_mean(model(x) ** 2) + 0 * tf.reduce_sum(n)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss

losses = []
for x, n in tf.data.Dataset.zip((data, words)):
    losses.append(train_step(x, n, Options(0.5)).numpy())
    if len(losses) % 8 == 0:
        print(f"{losses[-1]:.4f}", round(losses[-1], 3), min(losses), np.mean(losses))
"""


@pytest.mark.long
def test_changes_of_a_loop_keep_its_results(tfperf: Tfperf) -> None:
    tfperf.script(LOOP)
    texts = ["batch-then-map:scale", "host-reads-late", "same-objects:train_step", "cache:batch", "pad-to=32"]
    words = [word for text in texts for word in ("--with", text)]
    done = tfperf("try", "--together", "--steps", "16", "--time-limit", "1s", "--json", "-", *words[:-4], "train.py")
    (item,) = json.loads(done.stdout)["measured"]
    assert (item["verdict"], item["results"]) == ("undecided", "same bits"), item
    done = tfperf("try", "--together", "--steps", "16", "--time-limit", "1s", "--json", "-", *words[-4:], "train.py")
    (item,) = json.loads(done.stdout)["measured"]
    assert (item["verdict"], item["reason"]) == ("undecided", "one pair tells nothing of its spread"), item
