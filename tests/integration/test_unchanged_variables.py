"""A matrix in a variable that nothing changes is as good as a constant; one that something may change is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from graph_causes import causes_in
from late_tensorflow import needs_tensorflow, tf
from tfperfkit_probes.ops.record import _variables
from tfperfkit_probes.ops.stored import FunctionRecord
from tfperfkit_probes.ops.unchanged import Unchanged
from tfperfkit_rules.graph.same_matrix import StayingMatrix

from tfperfkit.graph.model import Graph
from tfperfkit.instruments.graphs.reading import read_finished

pytestmark = needs_tensorflow
SIZE = 240


def matrix(*, trainable: bool = False) -> Any:
    return tf.Variable(tf.eye(SIZE) + 0.01, trainable=trainable)


def inverted_each_call(*functions: Callable[..., Any]) -> bool:
    """Tell whether the first function of a run is reported to invert, or solve with, a matrix that stays."""
    records, graphs = [], {}
    for number, function in enumerate(functions):
        concrete = tf.function(function).get_concrete_function(
            *([tf.TensorSpec((SIZE, 4), tf.float32)] if number == 0 else [])
        )
        name = f"f{number}"
        for contents in read_finished(concrete.graph, name, lambda file: True):
            graphs[contents.name] = Graph(contents, graphs.get)
        records.append(FunctionRecord(graph=name, trace_id=number, variables=_variables(concrete.graph)))
    unchanged = Unchanged((record, graphs[record.graph]) for record in records)
    found = causes_in(graphs["f0"], None, unchanged.placeholders(records[0]))
    return any(isinstance(each, StayingMatrix) for each in found)


def test_of_a_variable_that_only_is_read() -> None:
    fixed, scale = matrix(), tf.Variable(1.0)

    def step(right: Any) -> Any:
        scale.assign_add(1.0)  # another variable
        return tf.linalg.inv(fixed * 2.0) @ right * scale

    assert inverted_each_call(step)


def test_of_one_that_a_loop_reads_in_each_turn() -> None:
    fixed = matrix()

    def step(right: Any) -> Any:
        return tf.while_loop(lambda i, r: i < 5, lambda i, r: (i + 1, tf.linalg.solve(fixed + 0.0, r)), [0, right])[1]

    assert inverted_each_call(step)


def test_of_one_that_a_function_of_its_own_reads() -> None:
    fixed = matrix()

    @tf.function
    def correct(right: Any) -> Any:
        return tf.linalg.inv(fixed) @ right

    assert inverted_each_call(lambda right: correct(right) + correct(2.0 * right))


@pytest.mark.parametrize("how", ["itself", "a function that it calls", "in a branch", "in a loop", "another function"])
def test_not_of_one_that_changes(how: str) -> None:
    changing, calls = matrix(), tf.Variable(0)

    @tf.function
    def change() -> Any:
        return changing.assign(changing * 0.9)

    def step(right: Any) -> Any:
        calls.assign_add(1)
        result = tf.linalg.inv(changing) @ right
        if how == "itself":
            changing.assign(changing * 0.9)
        elif how == "a function that it calls":
            change()
        elif how == "in a branch":
            tf.cond(calls > 3, change, lambda: changing.read_value())
        elif how == "in a loop":
            tf.while_loop(lambda i: i < 3, lambda i: (i + tf.cast(change()[0, 0] * 0.0, tf.int32) + 1,), [0])
        return result

    others = [lambda: change()] if how == "another function" else []
    assert not inverted_each_call(step, *others)


def test_not_of_one_that_is_trained() -> None:
    trained = matrix(trainable=True)
    assert not inverted_each_call(lambda right: tf.linalg.inv(trained) @ right)
