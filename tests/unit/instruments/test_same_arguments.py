"""Recorded arguments of TensorFlow's own concrete functions, called as people call them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from late_tensorflow import needs_tensorflow, tf

from tfperfkit.instruments.graphs import same_arguments
from tfperfkit.instruments.graphs.call_counts import GraphCalls
from tfperfkit.instruments.graphs.same_arguments import Compared

pytestmark = needs_tensorflow


def function(*shapes: Any) -> Any:
    made = tf.function(lambda *tensors: tf.add_n([tf.reduce_sum(each) for each in tensors]), autograph=False)
    return made.get_concrete_function(*(tf.TensorSpec(shape, tf.float32) for shape in shapes))


def compared(concrete: Any, calls: list[tuple[Any, ...]]) -> Compared:
    told: list[Compared] = []
    end = same_arguments.follow(concrete, calls[0], told.append)
    assert end is not None
    for tensors in calls[1:]:
        concrete(*tensors)
    end()
    assert "_call_flat" not in vars(concrete)
    (one,) = told
    return one


def test_the_same_object_and_equal_values_are_the_same() -> None:
    kept, large = tf.ones((4,)), np.random.default_rng(0).random((600, 600), np.float32)
    calls = [(kept, tf.constant([1.0, 2.0]), tf.constant(large), tf.constant(float(n))) for n in range(5)]
    assert compared(function((4,), (2,), (600, 600), ()), calls) == Compared(5, [4, 4, 4, 0], [0, 0, 0, 0], [None] * 4)


def test_an_argument_that_is_nearly_all_zeros_in_each_call() -> None:
    links, full = tf.constant(np.eye(600, dtype=np.float32)), tf.ones((600, 600))
    shapes = ((600, 600), (600, 600), (600, 600))
    told = compared(function(*shapes), [(links, full, links if n < 3 else full) for n in range(5)])
    assert list(told.zeros) == [0] and told.zeros[0] == pytest.approx(1 - 1 / 600, abs=1e-3)
    small = tf.zeros((4, 4))
    assert compared(function((4, 4)), [(small,)] * 3).zeros == {}


def test_values_that_changed_are_others() -> None:
    calls = [(tf.random.normal((4,)), tf.random.normal((600, 600))) for _ in range(5)]
    assert compared(function((4,), (600, 600)), calls) == Compared(5, [0, 0], [0, 0], [None] * 2)


def test_a_tensor_may_grow_along_an_axis() -> None:
    text = tf.random.normal((3, 1))
    calls = []
    for _ in range(5):
        text = tf.concat([text, tf.random.normal((3, 2))], axis=1)
        calls.append((text, tf.random.normal((3, text.shape[1]))))
    assert compared(function((3, None), (3, None)), calls) == Compared(5, [0, 0], [4, 0], [None] * 2)


@pytest.mark.parametrize("front", [False, True])
def test_a_buffer_of_one_length_may_fill(front: bool) -> None:
    calls = []
    for length in range(2, 7):
        words, other = np.zeros((2, 20), np.int32), np.zeros((2, 20), np.int32)
        words[:, slice(20 - length, None) if front else slice(length)] = np.arange(1, length + 1)
        other[:, length] = 1  # another word each time
        calls.append((tf.constant(words), tf.constant(other)))
    spec = tf.TensorSpec((2, 20), tf.int32)
    made = tf.function(lambda *each: tf.add_n(each), autograph=False).get_concrete_function(spec, spec)
    assert compared(made, calls).grown == [4, 0]


def sequences(count: int, width: int, longest: int, kind: Any = np.int32) -> Any:
    rows = np.zeros((count, width), kind)
    for row in rows:
        row[: np.random.default_rng(len(row)).integers(1, longest)] = 1
    return tf.constant(rows)


def test_the_padding_of_sequences_is_measured_over_the_calls() -> None:
    def summed(text: Any, table: Any) -> Any:
        return tf.reduce_sum(tf.cast(text, tf.float32)) + tf.reduce_sum(table)

    specs = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((4, 64), tf.float32)
    concrete = tf.function(summed, autograph=False).get_concrete_function(*specs)
    found, none = compared(concrete, [(sequences(4, 64, 20), tf.zeros((4, 64))) for _ in range(5)]).padding
    assert found is not None and none is None
    assert (found.width, found.rows) == (64, 20) and found.longest < 20 and found.mean <= found.alike
    calls = [(sequences(4, width, 20), tf.zeros((4, 64))) for width in (24, 32, 64)]
    assert compared(concrete, calls).padding == [None, None]  # each as long as it must be


def test_it_ends_by_itself_and_for_others() -> None:
    concrete, told = function((4,)), []
    same_arguments.follow(concrete, (tf.ones(4),), told.append)
    for _ in range(same_arguments.MAX):
        concrete(tf.ones(4))
    assert "_call_flat" not in vars(concrete) and told[0].calls == same_arguments.MAX
    same_arguments.follow(concrete, (tf.ones(4),), told.append)
    concrete(tf.ones(4))
    counter = GraphCalls()
    assert counter.watch(concrete, "mine") and len(told) == 2
    concrete(tf.ones(4))
    assert counter.take() == {"mine": 1}
    counter.restore()


def test_an_error_passes_and_calls_while_another_graph_is_built_do_not_count() -> None:
    def below(x: Any) -> Any:
        with tf.control_dependencies([tf.debugging.assert_less(x, 2.0)]):
            return tf.identity(x)

    failing = tf.function(below, autograph=False)
    concrete = failing.get_concrete_function(tf.TensorSpec((), tf.float32))
    told: list[Compared] = []
    end = same_arguments.follow(concrete, (tf.constant(1.0),), told.append)
    with pytest.raises(tf.errors.InvalidArgumentError):
        concrete(tf.constant(3.0))
    tf.function(lambda x: concrete(x), autograph=False)(tf.constant(1.0))
    assert end is not None
    end()
    assert told == [Compared(2, [0], [0], [None])]


def test_there_is_nothing_to_follow_without_values() -> None:
    concrete = tf.function(lambda: tf.constant(1.0)).get_concrete_function()
    assert same_arguments.follow(concrete, (), lambda found: None) is None
    held = tf.Variable(1.0)
    both = tf.function(lambda v, x: v + x, autograph=False)
    assert compared(both.get_concrete_function(held, tf.constant(1.0)), [(held, tf.constant(1.0))] * 3).same[1] == 2
    assert same_arguments.follow(concrete, (held.handle,), lambda found: None) is None
