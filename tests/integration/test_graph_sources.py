"""The seam on graphs, on real TensorFlow: what it records, and that it leaves nothing behind."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from warm import run_warm

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)
ROOT = Path(__file__).parents[2]
SCRIPT = """
import gc, json, sys, traceback, weakref
import keras
import tensorflow as tf
from tensorflow.python.eager import execute, record
from tensorflow.python.eager.polymorphic_function import atomic_function
from keras.src.backend.tensorflow import core
from tfperfkit.instruments.graphs import tracing
from tfperfkit.graph.built import build
from tfperfkit.graph.library import Library
from tfperfkit.instruments.graphs.sources import GraphSources
from tfperfkit.storage.stream_writer import encoder

facts = {}
seen = []

def seams():
    return [
        execute.record_gradient, record.record_operation, core.name_scope.__enter__, atomic_function.from_func_graph
    ]

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4)])
optimizer = keras.optimizers.Adam()
optimizer.build(model.trainable_variables)

@tf.custom_gradient
def doubled(x):
    return 2.0 * x, lambda upstream: 2.0 * upstream

@tf.function
def inner(x):
    return tf.tanh(x)

def step(x):
    with tf.GradientTape() as tape:
        y = model(x, training=True)
        for _ in tf.range(2):
            y = doubled(inner(y))
        y = tf.cond(tf.reduce_sum(y) > 0.0, lambda: tf.nn.relu(y), lambda: -y)
        loss = tf.reduce_mean(y * y)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss

def nodes():
    concrete = tf.function(step).get_concrete_function(tf.TensorSpec([4, 8]))
    return [(op.name, op.type) for op in concrete.graph.get_operations()]

before = seams()
plain = nodes()
recorded = []
sources = GraphSources(lambda graph: recorded.append(json.loads(encoder.encode(graph))), lambda file: file == __file__)
follower = sources.follow(lambda functions, traced, cost: seen.append((functions, traced is not None)))
second = sources.follow()
facts["same_graph"] = nodes() == plain
facts["between_traces"] = [a is b for a, b in zip(seams()[:3], before[:3])]
graphs = build(seen[-1][0], Library(recorded).graph)
root = graphs.graphs[graphs.functions[next(n for n in graphs.functions if n.startswith("__inference_step"))]]
facts["stages"] = {name: stage for name, stage in zip(root.operations, root.stages)}
facts["unknown_gradients"] = [
    name for i, name in enumerate(root.operations) if name.startswith("gradient_tape") and i not in root.forward
]
facts["layers"] = [graphs.layers[number].name for _, number in root.layers]
facts["lines"] = sorted({graphs.frames[frame][1] for stack in graphs.stacks for frame in stack if frame >= 0})
facts["function_names"] = sorted({graphs.frames[frame][2] for stack in graphs.stacks for frame in stack if frame >= 0})
facts["calls"] = sorted(root.types[i] is not None and graphs.types[root.types[i]] for i in root.calls)

@tf.function
def broken(x):
    raise ValueError("mine")

try:
    broken(tf.zeros([2]))
except ValueError:
    facts["traceback"] = traceback.format_exc()
facts["after_failure"] = [a is b for a, b in zip(seams()[:3], before[:3])]

concrete = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([3]))
dead = weakref.ref(concrete)
del concrete
gc.collect()
facts["freed"] = dead() is None

# A compiled function under an eager tape: its backward function is made outside of any trace.
weight = tf.Variable([1.0, 2.0])
compiled = tf.function(lambda x: tf.tanh(x * weight))
with tf.GradientTape() as tape:
    y = compiled(tf.ones([2]))
tape.gradient(y, weight)
facts["outside"] = [sorted(functions) for functions, traced in seen if not traced]
names = [graph["name"] for graph in recorded]
facts["each_once"] = len(names) == len(set(names)) and {name for f, _ in seen for name in f.values()} == set(names)

second.end()
facts["still"] = atomic_function.from_func_graph is not before[3]
follower.end()
facts["after"] = [a is b for a, b in zip(seams(), before)]
facts["tracing"] = tracing._restore is None
count = len(seen)
nodes()
facts["quiet"] = len(seen) == count
with tf.GradientTape() as tape:
    y = tf.tanh(weight * 2.0)
facts["gradient"] = tape.gradient(y, weight).numpy().tolist()
print(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = run_warm(SCRIPT, tmp_path_factory.mktemp("sources"))
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_graph_is_the_same_as_without_us(facts: dict[str, Any]) -> None:
    assert facts["same_graph"]


def test_every_gradient_is_known(facts: dict[str, Any]) -> None:
    assert facts["unknown_gradients"] == []
    stages = facts["stages"]
    assert stages["sequential_1/dense_1/MatMul"] == "f" and stages["while"] == "f" and stages["cond"] == "f"
    assert {stages[name] for name in stages if name.startswith("gradient_tape")} == {"b"}
    assert stages["adam/AssignAddVariableOp"] == "u"


def test_layers_and_lines_of_the_person_are_kept_and_no_others(facts: dict[str, Any]) -> None:
    assert set(facts["layers"]) == {"sequential", "dense", "dense_1"}
    source = SCRIPT.splitlines()
    lines = [source[number - 1].strip() for number in facts["lines"]]
    assert "y = model(x, training=True)" in lines and "y = doubled(inner(y))" in lines
    assert "return tf.tanh(x)" in lines and "loss = tf.reduce_mean(y * y)" in lines
    assert not any(name.startswith("tf__") for name in facts["function_names"])


def test_hooks_are_there_only_while_a_function_is_traced(facts: dict[str, Any]) -> None:
    assert facts["between_traces"] == [True] * 3 and facts["after_failure"] == [True] * 3
    assert facts["after"] == [True] * 4 and facts["tracing"] and facts["quiet"]
    assert facts["gradient"] == pytest.approx([2 / 3.7621957**2, 2 / 27.308233**2], rel=1e-3)


def test_each_graph_is_recorded_once_while_anybody_follows(facts: dict[str, Any]) -> None:
    assert facts["each_once"] and facts["still"]


def test_the_persons_traceback_shows_no_frame_of_ours(facts: dict[str, Any]) -> None:
    assert "mine" in facts["traceback"] and "graph_building" not in facts["traceback"]
    assert "graph_sources" not in facts["traceback"]


def test_nothing_of_tensorflow_is_kept_alive(facts: dict[str, Any]) -> None:
    assert facts["freed"]


def test_functions_of_an_eager_tape_are_seen(facts: dict[str, Any]) -> None:
    (names,) = facts["outside"]
    assert len(names) == 2 and names[0].startswith("__forward_") and "__backward_" in names[1]
