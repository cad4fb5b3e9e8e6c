"""The instruments of the probe ``devices`` in one process, without a session."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from test_devices import line_of
from warm import run_warm

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)

IN_PROCESS = """
import json, pathlib, sys
import tensorflow as tf
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.devices import placement, runtime
from tfperfkit.instruments.graphs.call_counts import GraphCalls
from tfperfkit.instruments.devices.host_syncs import HostSyncs
from tensorflow.python.framework import ops
facts = {}
try:
    runtime.gpu_missing()
except Unavailable as reason:
    facts["early"] = str(reason)
facts["woken"] = runtime.initialised()
tf.config.set_visible_devices([], "GPU")  # still possible: we did not wake TensorFlow
one = tf.constant(1.5)
facts["late"] = runtime.gpu_missing()

before = ops._EagerTensorBase.__dict__["_numpy"]
syncs = HostSyncs(lambda name: name == __file__)
syncs.install()
values = [one.numpy(), float(one), int(one), bool(one), f"{one:.1f}", str(one), repr(one), one.__array__()]
hasattr(one, "_numpy")
facts["reads"] = [[s.how, s.count, s.line, s.device] for s in syncs.take()]
facts["again"] = len(syncs.take())
try:
    tf.constant([1.0, 2.0]).__float__()
except TypeError as error:
    frames, step = [], error.__traceback__
    while step:
        frames.append(step.tb_frame.f_code.co_filename)
        step = step.tb_next
    facts["frames"] = [name for name in frames if "tfperfkit" in name]
syncs.restore()
facts["restored"] = ops._EagerTensorBase.__dict__["_numpy"] is before

@tf.function
def f(x):
    return x + 1
concrete = f.get_concrete_function(one)
calls = GraphCalls()
calls.watch(concrete, "f")
for _ in range(5):
    f(one)
facts["calls"] = calls.take()
concrete(one)
facts["more"] = calls.take()
calls.restore()
facts["left"] = "_call_flat" in vars(concrete)

@tf.function
def g(text, number, x):
    with tf.device("GPU:0"):
        square = number[None, None]
        return tf.strings.join([text, text]), number + 1, tf.matmul(square, square), x.read_value()
graph = g.get_concrete_function(tf.constant("a"), tf.constant(1), tf.Variable(1.0)).graph
there = frozenset({"CPU:0", "GPU:0"})
for op in graph.get_operations():
    if op.type in ("StringJoin", "AddV2", "MatMul", "ReadVariableOp"):
        facts[op.type] = placement.find_reason(op, op.node_def, "GPU:0", "CPU:0", there)
        facts[op.type + ".none"] = placement.find_reason(op, op.node_def, "GPU:1", "CPU:0", there)
facts["cuda"] = tf.test.is_built_with_cuda()
pathlib.Path(sys.argv[1]).write_text(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The instruments in one process, without a session."""
    folder = tmp_path_factory.mktemp("inside")
    done = run_warm(IN_PROCESS, folder, folder / "facts.json")
    assert done.returncode == 0, done.stderr[-3000:]
    facts: dict[str, Any] = json.loads((folder / "facts.json").read_text())
    return facts


def test_tensorflow_is_not_woken(inside: dict[str, Any]) -> None:
    assert "nothing was computed" in inside["early"] and inside["woken"] is False
    assert isinstance(inside["late"], str) and inside["late"]


def test_reading_needs_no_tensorflow() -> None:
    code = (
        "import sys; sys.modules['tensorflow'] = None\n"
        "from tfperfkit_probes.devices import probe\n"
        "assert not [name for name in sys.modules if name.startswith('tensorflow.')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200)


def test_every_way_of_reading_a_tensor_is_seen(inside: dict[str, Any]) -> None:
    ways = Counter({how: count for how, count, _, _ in inside["reads"]})
    assert ways == {
        ".numpy()": 1,
        "float()": 1,
        "int()": 1,
        "bool() or if": 1,
        "formatted": 1,
        "printed": 2,
        "as an array": 1,
    }
    assert {line for _, _, line, _ in inside["reads"]} == {line_of(IN_PROCESS, "values = [")}
    assert {device for *_, device in inside["reads"]} == {"CPU:0"}
    assert inside["again"] == 0
    assert inside["frames"] == [] and inside["restored"]


def test_calls_of_a_concrete_function_are_counted(inside: dict[str, Any]) -> None:
    assert inside["calls"] == {"f": 5} and inside["more"] == {"f": 1}
    assert inside["left"] is False


def test_why_an_operation_runs_elsewhere(inside: dict[str, Any]) -> None:
    assert inside["StringJoin"] == ["kernel", "StringJoin has no kernel for GPU"]
    assert inside["ReadVariableOp"][0] == "variable"
    assert inside["MatMul"][0] == ("dtype" if inside["cuda"] else "kernel")
    assert inside["AddV2"][0] == ("int32" if inside["cuda"] else "kernel")
    for op in ("StringJoin", "AddV2", "MatMul", "ReadVariableOp"):
        assert inside[f"{op}.none"] == ["device", "GPU:1 does not exist (there is only GPU:0)"]
