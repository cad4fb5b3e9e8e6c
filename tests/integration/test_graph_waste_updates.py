"""Work of updates next to the update itself, and results for any caller, in graphs that TensorFlow traced."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from graph_waste import kind_of, waste_of
from late_tensorflow import needs_tensorflow, tf

pytestmark = needs_tensorflow

After = Callable[[list[Any], list[Any]], Any]
WIDE = 32


@functools.cache
def network() -> Any:
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.layers.Dense(WIDE, activation="relu"), tf.keras.layers.BatchNormalization()]
    return tf.keras.Sequential([tf.keras.Input((WIDE,)), *layers, tf.keras.layers.Dense(4)])


def trained(apply: After) -> list[Any]:
    """Return the wasted work in a step that passes gradients and weights to ``apply``."""
    model = network()

    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True) ** 2)
        apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    return waste_of(step.get_concrete_function(tf.TensorSpec([8, WIDE], tf.float32)))


def one(found: list[Any], kind: str) -> Any:
    (each,) = [each for each in found if kind_of(each) == kind]
    return each


def by(name: str, **options: Any) -> After:
    optimizer = getattr(tf.keras.optimizers, name)(**options)
    optimizer.build(network().trainable_variables)
    return lambda gradients, weights: optimizer.apply(gradients, weights)


@functools.cache
def copies() -> list[Any]:
    return [tf.Variable(tf.zeros(each.shape)) for each in network().trainable_variables]


def averaged(write: Callable[[Any, Any], Any]) -> After:
    kept, update = copies(), by("SGD")

    def apply(gradients: list[Any], weights: list[Any]) -> None:
        update(gradients, weights)
        for average, weight in zip(kept, weights, strict=True):
            write(average, tf.convert_to_tensor(weight))

    return apply


def scaled(clip: Callable[[list[Any]], list[Any]]) -> After:
    update = by("Adam")
    return lambda gradients, weights: update(clip(gradients), weights)


@pytest.mark.parametrize(
    "apply",
    [
        lambda: by("Adam", use_ema=True),
        lambda: by("SGD", use_ema=True, ema_momentum=0.999),
        lambda: averaged(lambda average, weight: average.assign(0.99 * average + 0.01 * weight)),
        lambda: averaged(lambda average, weight: average.assign_add(0.01 * (weight - average))),
        lambda: averaged(lambda average, weight: average.assign_sub((average - weight) * 0.01)),
    ],
)
def test_averages_of_weights(apply: Callable[[], After]) -> None:
    found = one(trained(apply()), "GRF030")
    weights = network().trainable_variables
    assert found.variables == len(weights)
    assert found.numbers == sum(each.shape.num_elements() for each in weights)
    assert found.left == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("apply", "together"),
    [
        (lambda: by("Adam", global_clipnorm=1.0), 6),
        (lambda: by("SGD", clipnorm=1.0), 1),
        (lambda: scaled(lambda gradients: tf.clip_by_global_norm(gradients, 1.0)[0]), 6),
        (lambda: scaled(lambda gradients: [tf.clip_by_norm(each, 1.0) for each in gradients]), 1),
        (lambda: scaled(lambda gradients: [each / (tf.norm(each) + 1e-6) for each in gradients]), 1),
    ],
)
def test_gradients_that_are_clipped_by_a_norm(apply: Callable[[], After], together: int) -> None:
    found = one(trained(apply()), "GRF029")
    assert (found.gradients, found.together) == (6, together)


@pytest.mark.parametrize(
    "apply",
    [
        lambda: by("Adam"),
        lambda: by("AdamW", clipvalue=1.0),
        lambda: by("RMSprop", momentum=0.9, centered=True),
        lambda: by("SGD", momentum=0.9, nesterov=True),
        lambda: averaged(lambda average, weight: average.assign(weight)),  # a copy
        lambda: averaged(lambda average, weight: average.assign(0.9 * average)),
        lambda: scaled(lambda gradients: [each / 8.0 for each in gradients]),
    ],
)
def test_an_update_and_nothing_beside_it(apply: Callable[[], After]) -> None:
    assert {"GRF030", "GRF029"}.isdisjoint(kind_of(each) for each in trained(apply()))


@pytest.mark.parametrize(
    "apply",
    [
        lambda: by("Adam"),
        lambda: by("RMSprop", momentum=0.9),
        lambda: by("Adam", use_ema=True),
        lambda: by("Adam", global_clipnorm=1.0),
        lambda: by("Adam", clipnorm=1.0),
    ],
)
def test_small_variables_that_are_updated_one_by_one(apply: Callable[[], After]) -> None:
    found = one(trained(apply()), "GRF032")
    assert found.variables == 6 and found.numbers == WIDE
    assert (found.alike, found.shapes) == (3, 1)
    assert found.left == pytest.approx(3 / found.each)
    others = [each for each in trained(apply()) if set(each.updates) & set(found.updates)]
    assert not {"GRF029", "GRF030"} & {kind_of(each) for each in others}


def in_one(optimizer: Any) -> After:
    weights = network().trainable_variables
    sizes = [each.shape.num_elements() for each in weights]
    flat = tf.keras.Variable(tf.concat([tf.reshape(each, [-1]) for each in weights], 0))
    optimizer.build([flat])

    def apply(gradients: list[Any], weights: list[Any]) -> None:
        optimizer.apply([tf.concat([tf.reshape(each, [-1]) for each in gradients], 0)], [flat])
        for weight, part in zip(weights, tf.split(flat, sizes), strict=True):
            weight.assign(tf.reshape(part, weight.shape))

    return apply


@pytest.mark.parametrize("apply", [lambda: by("SGD"), lambda: in_one(tf.keras.optimizers.Adam())])
def test_few_operations_for_a_variable_are_no_waste(apply: Callable[[], After]) -> None:
    assert "GRF032" not in {kind_of(each) for each in trained(apply())}


def results_of(function: Callable[[Any], Any]) -> dict[int, Any]:
    made = tf.function(function, autograph=False).get_concrete_function(tf.TensorSpec([8, WIDE], tf.float32))
    return {each.number: each for each in waste_of(made) if kind_of(each) == "GRF031"}


def test_what_is_computed_for_one_result_alone() -> None:
    found = results_of(lambda x: (tf.reduce_sum(x), tf.linalg.svd(x, compute_uv=False)))
    assert found[1].results == 2
    assert any("Svd" in name for name in found[1].operations)
    assert not any("Svd" in name for name in found[0].operations)


def test_what_another_result_or_a_variable_needs_is_not_for_one_alone() -> None:
    kept = tf.Variable(tf.zeros([8]))

    def function(x: Any) -> Any:
        values = tf.linalg.svd(x, compute_uv=False)
        kept.assign(values)
        return tf.reduce_sum(values), values

    assert 1 not in results_of(function)
    checked = results_of(lambda x: (tf.reduce_sum(x), tf.debugging.check_numerics(tf.linalg.svd(x)[0], "svd")))
    assert 1 not in checked, "the check fails whoever reads what it hands on"
    assert not results_of(lambda x: tf.linalg.svd(x, compute_uv=False))  # its only result


def summed(add: Callable[[Any, Any, Any], Any]) -> set[str]:
    """Return the wasted work in a step that adds the gradient of a lookup to a variable in one of several ways."""
    table, total = tf.Variable(tf.ones((5000, 8))), tf.Variable(tf.zeros((5000, 8)))

    @tf.function(autograph=False)
    def step(ids: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.gather(table, ids) ** 2)
        add(total, table, tape.gradient(loss, table))
        return loss

    return {kind_of(each) for each in waste_of(step.get_concrete_function(tf.TensorSpec([64], tf.int32)))}


@pytest.mark.parametrize(
    ("add", "expected"),
    [
        (lambda total, table, g: total.assign_add(tf.convert_to_tensor(g)), True),
        (lambda total, table, g: total.assign(total + tf.convert_to_tensor(g)), True),
        (lambda total, table, g: table.assign_sub(0.1 * tf.convert_to_tensor(g)), True),
        (lambda total, table, g: total.scatter_add(g), False),
        (lambda total, table, g: total.assign(0.9 * total + tf.convert_to_tensor(g)), False),
    ],
)
def test_a_gradient_of_few_rows_that_is_added_as_a_table(add: Callable[[Any, Any, Any], Any], expected: bool) -> None:
    assert ("GRF019" in summed(add)) is expected
