"""A TensorFlow that is not as we know it: the script runs on, the report says what is missing, the rest is there.

It is the real TensorFlow with some attributes taken away or changed (``breaking``), profiled in forks of one that is as
ever: it is changed where its import ends.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from seams import SEAMS
from tfperfkit_probes import DEFAULT
from warm_run import warm_tfperf

import tfperfkit.instruments

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)

HERE = Path(__file__).parent
PROBES = DEFAULT
WINDOWS = ("lines=12:4", "tfprof=20:4", "devices=30:4")
STEPS = 96
GROUPS = tuple(dict.fromkeys(seam.group for seam in SEAMS))
#: TensorFlow 2.16 has no readings that could go wrong.
UNREAD = "this TensorFlow does not tell the times of tf.data stages"
#: The part of the steps that these groups leave.
SEEN = {"steps inherited": 0, "steps compiled": 0, "eager": 16}
#: Rows that say in a group that there is nothing (the lost seam is all that they live on, or the steps that they need).
WITHOUT = {
    "steps inherited": {"lines", "tfprof", "devices"},
    "steps compiled": {"lines", "tfprof", "devices"},
    "eager": {"tfprof", "devices"},
    "traces renamed": {"retrace", "ops"},
    "missing": {"lines", "tfprof", "input"},
    "kinds": {"lines", "tfprof", "input"},
    "inside": {"lines"},
}

SCRIPT = """
import breaking  # first of all: see its docstring
import gc
gc.disable()  # there is next to no garbage in an import of TensorFlow, and looking for it takes a fifth of the time
import numpy as np
import tensorflow as tf
gc.freeze()  # as a process ends, Python looks through all of that, several times
gc.enable()

tf.keras.utils.set_random_seed(1)
dense = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)


@tf.custom_gradient
def doubled(x):
    return 2 * x, lambda upstream: 2 * upstream


@tf.function
def inner(x):
    if tf.reduce_sum(x) > 1e9:
        x = x * 2.0
    return doubled(x)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((dense(inner(x)) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, dense.trainable_variables), dense.trainable_variables))
    return loss


def scaled(value):
    return value * 0.5


def batches():
    rng = np.random.default_rng(0)
    while True:
        yield rng.normal(size=(16, 8)).astype("float32"), np.ones((16, 1), "float32")


def train():
    signature = (tf.TensorSpec([16, 8]), tf.TensorSpec([16, 1]))
    data = tf.data.Dataset.from_generator(batches, output_signature=signature).map(lambda x, y: (x / 2, y))
    total = 0.0
    for number, (x, y) in enumerate(data.prefetch(2).take(80)):
        total += scaled(train_step(x, y).numpy())
        if number == 50:
            train_step(x[:8], y[:8])
    return total


if __name__ == "__main__":
    print(f"custom {train():.3f}")
    model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    rng = np.random.default_rng(1)
    history = model.fit(rng.normal(size=(256, 8)), np.ones((256, 1)), batch_size=16, epochs=1, verbose=0)
    print(f"fit {history.history['loss'][0]:.3f}")
    raise SystemExit(3)
"""


class Ran:
    """The script with one group's seams broken, under ``tfperf run``."""

    def __init__(self, group: str, folder: Path) -> None:
        self.done = run(
            folder,
            group,
            [
                "run",
                "--probes",
                ",".join(PROBES),
                *(f"--window={text}" for text in WINDOWS),
                "--json",
                "report.json",
                "--output",
                "report.txt",
                "train.py",
            ],
        )
        self.report: dict[str, Any] = json.loads((folder / "report.json").read_text())
        self.rows = {row["name"]: row for row in self.report["probes"]}

    def said(self, probe: str) -> list[str]:
        """All that the report says of what is missing, for a probe or in general."""
        if not probe:
            return [str(note) for note in self.report["notes"]]
        row = self.rows[probe]
        return [*filter(None, [row["reason"]]), *row["notes"]]


def run(folder: Path, group: str, tfperf: list[str]) -> subprocess.CompletedProcess[str]:
    """Under tfperf with these arguments; without any, under plain Python."""
    shutil.copy(HERE / "breaking.py", folder)
    (folder / "train.py").write_text(SCRIPT)
    rows = dict.fromkeys((seam.module, seam.path, seam.how) for seam in SEAMS if seam.group == group)
    (folder / "breaks.json").write_text(json.dumps(list(rows)))
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TFPERF_", "PYTHON"))}
    environment = {
        **kept,
        "TFPERF_RUNS": str(folder / "runs"),
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = [sys.executable, "train.py"]
    if tfperf:
        started, environment = warm_tfperf(environment)
        words = [*started, *tfperf]
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """The script without us, in the TensorFlow that is installed."""
    done = run(tmp_path_factory.mktemp("plain"), "", [])
    assert done.returncode == 3, done.stderr
    return done


@pytest.fixture(scope="module", params=GROUPS)
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Ran]:
    group = request.param
    return group, Ran(group, tmp_path_factory.mktemp(group.replace(" ", "-")))


def test_script_is_not_disturbed(ran: tuple[str, Ran], plain: subprocess.CompletedProcess[str]) -> None:
    done = ran[1].done
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    assert "Traceback" not in done.stderr
    assert "tfperf" not in done.stderr and "Error" not in done.stderr


def test_report_says_what_is_missing(ran: tuple[str, Ran]) -> None:
    group, found = ran
    silent = [
        seam
        for seam in SEAMS
        if seam.group == group
        and seam.words
        and not any(
            seam.words in text or (seam.path == "quick_execute" and UNREAD in text) for text in found.said(seam.probe)
        )
    ]
    assert not silent, {probe: found.said(probe) for probe in dict.fromkeys(seam.probe for seam in silent)}


def test_reasons_are_words(ran: tuple[str, Ran]) -> None:
    """No object addresses, no paths of ours, nothing over two lines of the screen."""
    said = [text for probe in ("", *PROBES) for text in ran[1].said(probe)]
    assert [text for text in said if "\n" in text or " at 0x" in text or "/tfperfkit/" in text or len(text) > 400] == []
    failed = [row["name"] for row in ran[1].rows.values() if row["status"] == "failed"]
    assert set(failed) <= {"lines", "tfprof"}


def test_the_rest_is_there(ran: tuple[str, Ran]) -> None:
    group, found = ran
    expected = SEEN.get(group, STEPS)
    # Once in seventeen runs of this group, on a busy machine, one step of 96 was missing; the cause is not known.
    missing = 1 if group == "kinds" else 0
    assert expected - missing <= found.report["steps"]["count"] <= expected
    without = WITHOUT.get(group, set())
    for name, row in found.rows.items():
        assert (row["status"] == "ok") == (name not in without), (name, row["status"], found.said(name))
    assert found.rows["memory"]["data"]
    if "retrace" not in without:
        assert found.rows["retrace"]["data"]["traces"] > 0


TOUCHES = re.compile(
    r"^\s*(?:from|import) (?:tensorflow|keras|line_profiler)\b|[\"'](?:tensorflow|keras|tf_keras)[./]", re.MULTILINE
)


def test_every_instrument_that_touches_tensorflow_is_in_the_table() -> None:
    folder = Path(next(iter(tfperfkit.instruments.__path__)))
    modules = {".".join(path.relative_to(folder).with_suffix("").parts): path for path in folder.rglob("*.py")}
    listed = {name for seam in SEAMS for name in seam.instruments.split()}
    touching = {name for name, path in modules.items() if TOUCHES.search(path.read_text())}
    assert len(touching) > 15
    assert touching - listed - NAMES_ONLY - IN_TRIALS - ON_DEMAND == set()
    assert (listed - {"line_profiler"}) - set(modules) == set()


#: They look at names of files, functions and modules only; an unknown TensorFlow makes what they tell coarser.
NAMES_ONLY = {"graphs.stack_choice", "stacks.activity", "stacks.user_line"}
#: They change what a trial of ``tfperf try`` runs, never a run that is profiled: a seam that is another one makes an
#: experiment not applicable, with the reason (``test_trial_seams.py``).
IN_TRIALS = {f"changes.{name}" for name in ("arguments", "edited", "results")}
#: With ``--profiler-service`` alone, and in a process of its own; where TensorFlow has no such service, a note says so.
ON_DEMAND = {"profiler_service", "trace_client"}
