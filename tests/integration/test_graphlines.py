"""Lines inside compiled functions, on real runs: what adds up, what costs k times as much, what is found.

Sizes are such that the measured work dominates, and bounds are wide: ratios of work, never times.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from tfperf_runner import Tfperf

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)
ROOT = Path(__file__).parents[2]
#: Each marked line ends in a comment: the number of products of N x N matrices that it makes.
KNOWN = """
import sys
import tensorflow as tf
N = 448
w = tf.Variable(tf.random.normal((N, N)) / 21)
w2 = tf.Variable(tf.random.normal((2 * N, 2 * N)) / 30)

@tf.function
def inner(x):
    return tf.matmul(x, w)

def helper(x):
    y = tf.matmul(x, w)  # helper 1
    return tf.matmul(y, w)  # helper 1

@tf.function(jit_compile="--jit" in sys.argv)
def train_step(x, z):
    with tf.GradientTape() as tape:
        a = helper(x * 1.5)  # line 2
        for i in tf.range(6):
            a = tf.matmul(a, w)  # line 6
        if tf.reduce_sum(a) > -1e30:
            a = tf.matmul(a, w)  # line 1
        else:
            a = tf.tanh(a)
        b = inner(a)  # line 1
        c = inner(b)  # line 1
        d = tf.matmul(z, w2)  # line 8
        e = tf.map_fn(lambda r: tf.matmul(r, w), tf.stack([c, 2.0 * c, 3.0 * c]))  # line 3
        loss = tf.reduce_mean(e) + tf.reduce_mean(d * d)
    gradients = tape.gradient(loss, [w, w2])
    for v, g in zip([w, w2], gradients):
        v.assign_sub(0.01 * g)  # update
    return loss

x, z = tf.random.normal((N, N)), tf.random.normal((2 * N, 2 * N))
for step in range(24):
    float(train_step(x, z))
"""
CONVNET = """
import keras, numpy as np
from keras import layers
x, y = np.random.rand(416, 24, 24, 3).astype("float32"), np.random.randint(0, 10, 416)
model = keras.Sequential([
    keras.Input((24, 24, 3)), layers.Conv2D(16, 3, padding="same", activation="relu"), layers.BatchNormalization(),
    layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(), layers.Dropout(0.2), layers.Flatten(),
    layers.Dense(10),
], name="net")
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, metrics=["accuracy"], jit_compile=False)
model.fit(x, y, batch_size=16, verbose=0)  # fit
"""
TRANSFORMER = """
import keras, numpy as np, tensorflow as tf
from keras import layers

class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention = layers.MultiHeadAttention(2, 32)
        self.dense = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(32)])
        self.norm = layers.LayerNormalization()

    def call(self, x):
        x = self.norm(x + self.attention(x, x))  # attention
        return x + self.dense(x)  # dense

class Model(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)  # forward
            loss = self.compute_loss(y=y, y_pred=logits)  # loss
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)  # apply
        return {"loss": loss}

inputs = keras.Input((48,), dtype="int32")
h = Block()(layers.Embedding(500, 32)(inputs))
model = Model(inputs, layers.Dense(2)(layers.GlobalAveragePooling1D()(h)))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, jit_compile=False)
x, y = np.random.randint(0, 500, (416, 48)), np.random.randint(0, 2, 416)
model.fit(x, y, batch_size=16, verbose=0)
"""


def run(folder: Path, script: str | Path, *arguments: str, probes: str = "lines,tfprof") -> dict[str, Any]:
    """Run a script (its source or its path) and give the report."""
    tfperf = Tfperf(folder, warm=True)
    if isinstance(script, str):
        script = tfperf.script(script)
    windows = [f"--window={name}={start}:{count}" for name, start, count in WINDOWS if name in probes]
    done = tfperf(
        "run",
        "--probes",
        probes,
        *windows,
        "--json",
        "report.json",
        "--run-dir",
        str(folder / "run"),
        script,
        *arguments,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


#: TensorFlow 2.16's XLA tells the profiler nothing of its kernels on a CPU.
OLD = importlib.metadata.version("tensorflow").startswith("2.16.")
WINDOWS = (("lines", 6, 2), ("tfprof", 12, 6))


def data_of(report: dict[str, Any]) -> dict[str, Any]:
    (data,) = [probe["data"] for probe in report["probes"] if probe["name"] == "lines"]
    return dict(data)


def main_function(report: dict[str, Any]) -> dict[str, Any]:
    """The one that takes most of the step."""
    notes = [note for probe in report["probes"] for note in probe["notes"]]
    if any("shows nothing inside" in note for note in notes) and OLD:
        pytest.skip("the profiler of this TensorFlow shows nothing inside functions that XLA compiles for a CPU")
    functions = [item for item in data_of(report)["graph_functions"] if item["lines"]]
    return dict(max(functions, key=lambda item: item["ms_per_step"]))


def adds_up(function: dict[str, Any], report: dict[str, Any]) -> None:
    """Lines and the rest make the function, functions and the rest make the step, each within 1 %."""
    lines = sum(row["forward_ms"] + row["backward_ms"] + row["update_ms"] for row in function["lines"])
    assert lines + function["unattributed_ms"] == pytest.approx(function["ms_per_step"], rel=0.01)
    inner = sum(row["forward_ms"] + row["backward_ms"] + row["update_ms"] for row in function["innermost"])
    assert inner == pytest.approx(lines, rel=0.01)
    data = data_of(report)
    steps = [item for item in data["graph_functions"] if item["lines"] and item["where"] == "step"]
    total = sum(item["ms_per_step"] for item in steps) + data["outside_ms"]
    assert total == pytest.approx(data["traced_step_ms"], rel=0.01)


def marked(source: str, word: str) -> dict[int, float]:
    """The lines that end in a comment of this word, with the number after it."""
    found = {}
    for number, line in enumerate(source.splitlines(), 1):
        comment = line.rpartition("# ")[2].split() if "# " in line else []
        if comment[:1] == [word]:
            found[number] = float(comment[1]) if len(comment) > 1 else 0.0
    return found


def unfolded(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for line in lines for item in (line, *unfolded(line.get("children", [])))]


@pytest.mark.long  # it compares times of some milliseconds, which a busy machine disturbs
@pytest.mark.parametrize("arguments", [(), ("--jit",)], ids=["graph", "xla"])
def test_lines_cost_what_their_work_is(arguments: tuple[str, ...], tmp_path: Path) -> None:
    report = run(tmp_path, KNOWN, *arguments)
    function = main_function(report)
    adds_up(function, report)
    assert function["matched_share"] >= (0.95 if arguments else 0.99)
    assert function["function"] == "train_step" and function["compiler"] == ("xla" if arguments else "")
    rows = {row["line"]: row for row in function["lines"]}
    works = marked(KNOWN, "line")
    unit = sum(rows[line]["forward_ms"] for line in works) / sum(works.values())
    for line, work in works.items():
        # A line of little work is soon disturbed on a machine that others use too.
        factor = 2.2 if work >= 6 else 3.0
        assert work / factor < rows[line]["forward_ms"] / unit < work * factor, f"line {line}"
    # A gradient makes two products for each; the first line's input needs none, nor do constants.
    forward = sum(rows[line]["forward_ms"] for line in works)
    backward = sum(rows[line]["backward_ms"] for line in works)
    assert 1.2 < backward / forward < 3.0
    loop = next(line for line, work in works.items() if work == 6)
    assert 1.2 < rows[loop]["backward_ms"] / rows[loop]["forward_ms"] < 3.2
    updates = sum(rows[line]["update_ms"] for line in marked(KNOWN, "update") if line in rows)
    assert updates > 0.5 * sum(row["update_ms"] for row in function["lines"])
    helpers = [item for item in unfolded(function["lines"]) if item["line"] in marked(KNOWN, "helper")]
    assert len(helpers) == 2 and all(item["function"] == "helper" for item in helpers)
    assert 0.3 < helpers[0]["forward_ms"] / helpers[1]["forward_ms"] < 3


def test_fit_of_a_stock_convnet_is_reported_by_layer(tmp_path: Path) -> None:
    report = run(tmp_path, CONVNET)
    function = main_function(report)
    adds_up(function, report)
    assert function["matched_share"] >= 0.98 and function["function"] == "Model.fit"
    (fit,) = marked(CONVNET, "fit")
    assert function["line"] == fit and [row["line"] for row in function["lines"]] == [fit]
    layers = {row["layer"]: row for row in function["layers"]}
    convolution = layers["net/conv2d_1"]
    assert convolution["kind"] == "Conv2D" and convolution["shape"] == "22×22×32"
    assert convolution["forward_ms"] > 0 and convolution["backward_ms"] > 0
    # 16 images of 22 x 22, kernel 3 x 3, 16 to 32 channels; forward, and two gradients
    assert convolution["gflop"] == pytest.approx(3 * 2 * 16 * 22 * 22 * 9 * 16 * 32 / 1e9, rel=0.01)
    # Inputs, weights and outputs, once by each of the three; the activation's gradient; the bias'.
    made = 4 * 16 * 22 * 22 * 32
    moved = 4 * (16 * 24 * 24 * 16 + 9 * 16 * 32) + made
    assert 3 * moved + 3 * made <= 1.01e9 * convolution["gb"] <= 3 * moved + 5 * made
    assert convolution["operation"].startswith("Conv2D") and "3×3×16×32" in convolution["operation"]
    assert layers["net/batch_normalization"]["gflop"] is None and layers["net/batch_normalization"]["gb"] > 0
    named = sum(row["forward_ms"] + row["backward_ms"] + row["update_ms"] for row in layers.values())
    parts = sum(item["ms"] for item in unfolded(function["lines"]) if item["kind"] == "part")
    input_ms = 0.1 * function["ms_per_step"]
    assert named + parts + input_ms + function["unattributed_ms"] >= 0.9 * function["ms_per_step"]


def test_a_train_step_of_the_persons_own_unfolds_to_the_layers_own_lines(tmp_path: Path) -> None:
    report = run(tmp_path, TRANSFORMER)
    function = main_function(report)
    adds_up(function, report)
    assert function["matched_share"] >= 0.98
    rows = {item["line"]: item for item in unfolded(function["lines"]) if item["kind"] == "line"}
    for word in ("forward", "loss", "attention", "dense"):
        (line,) = marked(TRANSFORMER, word)
        assert rows[line]["forward_ms"] > 0 and rows[line]["backward_ms"] > 0, word
    (apply,) = marked(TRANSFORMER, "apply")
    assert rows[apply]["update_ms"] > 0 and rows[apply]["forward_ms"] == 0
    (attention,) = marked(TRANSFORMER, "attention")
    names = {item["name"] for item in unfolded(rows[attention]["children"])}
    assert "multi_head_attention" in names


@pytest.fixture(scope="module")
def gan(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """The report of a stage of the GAN, run once."""
    known: dict[str, dict[str, Any]] = {}

    def stage(name: str) -> dict[str, Any]:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            known[name] = run(
                folder,
                ROOT / "examples/gan/train.py",
                "--stage",
                name,
                "--steps",
                "20",
                "--digits",
                "500",
                "--batch-size",
                "32",
                "--cache",
                str(tmp_path_factory.getbasetemp() / "digits"),
                "--out",
                str(folder / "out"),
            )
        return known[name]

    return stage


@pytest.mark.parametrize(("stage", "lower"), [("graph", 0.99), ("shared", 0.99), ("mixed", 0.95)])
def test_the_gans_time_is_on_lines(gan: Callable[[str], dict[str, Any]], stage: str, lower: float) -> None:
    report = gan(stage)
    function = main_function(report)
    adds_up(function, report)
    assert function["matched_share"] >= lower and function["function"] == "train_step"
    assert {row["layer"].partition("/")[0] for row in function["layers"]} == {"generator", "discriminator"}


def test_the_repeated_forward_pass_is_reported_with_its_lines(
    gan: Callable[[str], dict[str, Any]],
) -> None:
    (found,) = [item for item in gan("graph")["findings"] if item["code"] == "GRF001"]
    source = (ROOT / "examples/gan/graph.py").read_text().splitlines()
    lines = {source[place["line"] - 1].strip() for place in found["where"] if place["file"].endswith("graph.py")}
    assert 'fake = models["generator"](noise, training=True)' in lines
    assert 'real_logits = models["discriminator"](real, training=True)' in lines
    assert 'fake_logits = models["discriminator"](fake, training=True)' in lines
    assert found["predicted_speedup"] > 1.05
    assert [item for item in gan("shared")["findings"] if item["code"] == "GRF001"] == []


def test_without_a_trace_a_note_says_how_to_get_one(tmp_path: Path) -> None:
    report = run(tmp_path, KNOWN.replace("range(24)", "range(10)"), probes="lines")  # its window is over by then
    (function,) = [item for item in data_of(report)["graph_functions"] if item["function"] == "train_step"]
    assert function["lines"] == [] and function["matched_share"] is None
    console = Tfperf(tmp_path)("report", str(tmp_path / "run"))
    assert "--probes lines,tfprof" in console.stdout
