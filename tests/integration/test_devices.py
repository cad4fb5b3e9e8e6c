"""The probe devices on real TensorFlow: two logical CPUs make real sends, checked against the partition graphs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from tfperf_runner import Tfperf
from warm import run_warm

WARM = True

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)

TWO_CPUS = """
import sys
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
"""

SPLIT = (
    TWO_CPUS
    + """
with tf.device("CPU:1"):
    w = tf.Variable(tf.ones((32, 16)), name="w")
v = tf.Variable(tf.ones((16, 4)), name="v")

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        with tf.device("CPU:1"):
            h = tf.matmul(x, w)  # takes x: 8 * 32 floats
        with tf.device("GPU:0"):
            h = tf.nn.relu(h)  # asks for what is not there, and takes h: 8 * 16 floats
        y = tf.matmul(h, v)
        loss = tf.reduce_mean(y * y)
    for variable, gradient in zip([w, v], tape.gradient(loss, [w, v])):
        variable.assign_sub(0.001 * gradient)
    return loss

x = tf.ones((8, 32))
"""
)

TRAIN = """
total = 0.0
for number, batch in enumerate(tf.data.Dataset.from_tensors(x).repeat(120)):
    loss = step(batch)
    total += float(loss)
    if loss > 1e9:
        sys.exit("diverged")
    if number % 40 == 0:
        print(number, loss)
print(total)
"""

PARTITIONS = """
import json
from tensorflow.python.eager import context
concrete = step.get_concrete_function(x)
context.context().enable_graph_collection()
concrete(x)
graphs = max(context.context().export_run_metadata().function_graphs, key=lambda g: len(g.pre_optimization_graph.node))
def name_device(device):
    return device.rpartition("device:")[2]
print(json.dumps({
    "ops": [[name_device(n.device), n.op] for part in graphs.partition_graphs for n in part.node],
    "sends": [[name_device(n.attr["send_device"].s.decode()), name_device(n.attr["recv_device"].s.decode())]
              for part in graphs.partition_graphs for n in part.node
              if n.op in ("_Send", "_HostSend") and "/ctrl/_" not in n.input[0]],
    "asked": sum(bool(n.device) for n in graphs.pre_optimization_graph.node if n.op != "_EagerConst"),
}))
"""

PLUMBING = ("_Send", "_Recv", "_HostSend", "_HostRecv", "_Arg", "_Retval", "_DeviceArg", "_DeviceRetval")


def profiled(tfperf: Tfperf, source: str, **options: Any) -> dict[str, Any]:
    """The JSON report of a script under the probe alone, and what it wrote to stdout."""
    tfperf.script(source)
    done = tfperf("run", "--probes", "devices", "--json", "report.json", "train.py", **options)
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, Any] = json.loads((tfperf.folder / "report.json").read_text())
    report["stdout"] = done.stdout
    (probe,) = report["probes"]
    assert probe["status"] == "ok", probe["reason"]
    report["data"] = probe["data"]
    return report


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return the script's stdout without us."""

    def written(source: str) -> str:
        done = run_warm(source, tmp_path_factory.mktemp("plain"))
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return written


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of the training on two processors."""
    return profiled(Tfperf(tmp_path_factory.mktemp("split"), warm=True), SPLIT + TRAIN)


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def test_placements_and_copies_are_those_of_the_partition_graphs(
    split: dict[str, Any], plain: Callable[[str], str]
) -> None:
    source, report = SPLIT + TRAIN, split
    assert report["stdout"] == plain(source), "the script does under the probe what it does alone"
    truth = json.loads(plain(SPLIT + PARTITIONS))
    data = report["data"]
    assert [d["name"] for d in data["devices"] if d["kind"] == "logical"] == ["CPU:0", "CPU:1"]

    counted = {row["device"]: row["types"] for row in data["placements"]}
    expected: dict[str, Counter[str]] = {}
    for device, op in truth["ops"]:
        if op not in PLUMBING:
            expected.setdefault(device, Counter())[op] += 1
    assert counted == expected
    assert sum(row["ops"] for row in data["placements"]) == sum(sum(c.values()) for c in expected.values())
    homes = {row["device"]: (row["variables"], row["variable_bytes"]) for row in data["placements"]}
    assert homes == {"CPU:0": (1, 16 * 4 * 4), "CPU:1": (1, 32 * 16 * 4)}

    sends = Counter((source_device, target) for source_device, target in truth["sends"])
    copied: Counter[tuple[str, str]] = Counter()
    for row in data["copies"]:
        assert row["unknown_sizes"] == 0
        copied[row["from"], row["to"]] += row["copies_per_step"]
    assert copied == sends
    by_line = {(row["line"], row["from"], row["to"]): row for row in data["copies"]}
    taken = by_line[line_of(source, "# takes x"), "CPU:0", "CPU:1"]
    assert taken["kind"] == "input" and taken["bytes_per_step"] >= 8 * 32 * 4
    relu = by_line[line_of(source, "and takes h"), "CPU:1", "CPU:0"]
    assert (relu["kind"], relu["bytes_per_step"], relu["function"]) == ("result", 8 * 16 * 4, "step")
    update = by_line[line_of(source, "assign_sub"), "CPU:0", "CPU:1"]
    assert update["bytes_per_step"] in (32 * 16 * 4, 32 * 16 * 4 + 4)  # the gradient of w, or its factor too


def test_fallbacks_reads_and_their_findings(split: dict[str, Any]) -> None:
    source, report = SPLIT + TRAIN, split
    data = report["data"]
    (fallback,) = data["fallbacks"]
    assert (fallback["op"], fallback["requested"], fallback["assigned"]) == ("Relu", "GPU:0", "CPU:0")
    assert fallback["kind"] == "device" and "there is no GPU" in fallback["reason"]
    assert fallback["line"] == line_of(source, "tf.nn.relu")

    reads = {row["line"]: row for row in data["host_syncs"] if not row["through"]}
    for text, how in (("float(loss)", "float()"), ("if loss", "bool() or if")):
        row = reads[line_of(source, text)]
        assert row["per_step"] == 1 and row["how"] == [how] and row["blocked_ms"] > 0
    printed = reads.get(line_of(source, "print(number"))
    if printed is not None:  # the window may lie between two of them
        assert printed["how"] == ["printed"] and 0 < printed["per_step"] < 0.5
    (function,) = [row for row in data["functions"] if row["function"] == "step"]
    assert function["calls_per_step"] == 1

    codes = {finding["code"]: finding for finding in report["findings"] if finding["code"][:3] in ("DEV", "SYN")}
    assert set(codes) == {"DEV002", "DEV003", "SYN001"}
    assert codes["DEV002"]["severity"] == "medium"
    assert codes["DEV003"]["severity"] == "info"


def test_a_healthy_twin(tfperf: Tfperf) -> None:
    """The same training without scopes, its loss read at the end."""
    source = SPLIT + TRAIN
    for scope in ('    with tf.device("CPU:1"):\n', '        with tf.device("GPU:0"):\n'):
        source = source.replace(scope, scope.replace(scope.strip(), "if True:"))
    source = source.replace('with tf.device("CPU:1"):', "if True:")
    source = source.replace("total += float(loss)", "pass").replace("if loss > 1e9", "if number > 1e9")
    report = profiled(tfperf, source)
    assert report["data"]["copies"] == [] and report["data"]["fallbacks"] == []
    assert [row["device"] for row in report["data"]["placements"]] == ["CPU:0"]
    assert not [finding for finding in report["findings"] if finding["code"][:3] in ("DEV", "SYN")]


ASYNCHRONOUS = """
import tensorflow as tf
tf.config.experimental.set_synchronous_execution(False)
x, v = tf.ones((500, 500)), tf.Variable(tf.zeros((500, 500)))

@tf.function
def step(b):
    v.assign_add(tf.matmul(tf.matmul(b, b), v + b))
    return tf.reduce_sum(v)

optimizer = tf.keras.optimizers.SGD(0.1)
w = tf.Variable(1.0)
for batch in tf.data.Dataset.from_tensors(x).repeat(100):
    loss = step(batch)
    loss.numpy()
    optimizer.apply_gradients([(tf.constant(0.1), w)])
"""


def test_a_read_that_waits(tfperf: Tfperf) -> None:
    report = profiled(tfperf, ASYNCHRONOUS)
    row = next(row for row in report["data"]["host_syncs"] if row["how"] == [".numpy()"] and not row["through"])
    assert row["line"] == line_of(ASYNCHRONOUS, "loss.numpy()") and row["per_step"] == 1
    # How much the wait gains, and so how loud it is, depends on what else the machine does.
    at = [f for f in report["findings"] if f["code"] == "SYN001" and f["where"][0]["line"] == row["line"]]
    assert len(at) == 1, [(f["code"], f["where"], f["detail"]) for f in report["findings"]]
    (finding,) = at
    assert finding["share_of_step"] == pytest.approx(row["share_of_step"])


EAGER = (
    TWO_CPUS
    + """
w = tf.Variable(tf.ones((20, 10)))
optimizer = tf.keras.optimizers.SGD(0.1)
optimizer.build([w])
for x in tf.data.Dataset.from_tensors(tf.ones((4, 20))).repeat(120):
    with tf.GradientTape() as tape:
        h = tf.matmul(x, w)
        with tf.device("CPU:1"):
            h = tf.tanh(h)  # takes 4 * 10 floats
        with tf.device("GPU:0"):
            loss = tf.reduce_mean(h)  # asks for what is not there
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
print(float(loss))
"""
)


def test_eager_operations(tfperf: Tfperf, plain: Callable[[str], str]) -> None:
    report = profiled(tfperf, EAGER)
    assert report["stdout"] == plain(EAGER)
    data = report["data"]
    placed = {row["device"]: row["eager_per_step"] for row in data["placements"]}
    assert placed["CPU:1"] >= 1 and placed["CPU:0"] >= 3
    copied = {row["line"]: row for row in data["copies"] if row["kind"] == "eager"}
    taken = copied[line_of(EAGER, "tf.tanh")]
    assert (taken["from"], taken["to"]) == ("CPU:0", "CPU:1")
    assert taken["bytes_per_step"] == 4 * 10 * 4 and taken["copies_per_step"] == 1
    (fallback,) = [row for row in data["fallbacks"] if row["op"] == "Mean"]
    assert (fallback["requested"], fallback["assigned"]) == ("GPU:0", "CPU:0")
    assert (fallback["kind"], fallback["line"]) == ("device", line_of(EAGER, "tf.reduce_mean"))


MIRRORED = (
    TWO_CPUS
    + """
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    w = tf.Variable(tf.ones((50, 10)))
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build([w])

def replica(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(x, w) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss

@tf.function
def step(x):
    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica, args=(x,)), axis=None)

data = tf.data.Dataset.from_tensor_slices(tf.ones((1200, 50))).batch(8, drop_remainder=True)
for x in strategy.experimental_distribute_dataset(data):
    loss = step(x)
print(float(loss))
"""
)


def test_a_mirrored_strategy_is_healthy(tfperf: Tfperf) -> None:
    report = profiled(tfperf, MIRRORED)
    told = [finding["severity"] for finding in report["findings"] if finding["code"][:3] in ("DEV", "SYN")]
    assert told in ([], ["info"])
    data = report["data"]
    placed = {row["device"]: row for row in data["placements"]}
    assert set(placed) == {"CPU:0", "CPU:1"}
    if importlib.metadata.version("keras").startswith("3.3."):
        pytest.skip("Keras 3.3's optimizers apply each replica's own gradients: there is nothing to exchange")
    exchanged = [row for row in data["copies"] if row["to"] == "other replicas"]
    assert {row["from"] for row in exchanged} == {"CPU:0", "CPU:1"}
    assert all(row["bytes_per_step"] == 50 * 10 * 4 for row in exchanged), "the gradient of w"
    assert all(row["kind"] == "replicas" for row in data["copies"])
