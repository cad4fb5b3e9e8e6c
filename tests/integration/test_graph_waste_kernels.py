"""Convolutions with whole kernels that are a column times a row, in graphs that TensorFlow itself traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graph_waste import Makes, found, kind_of, kinds, waste_of
from late_tensorflow import needs_tensorflow, tf
from tfperfkit_rules.graph.separable_kernel import (
    EACH_SEPARATED_SLOWER,
    SEPARATED_SLOWER,
    VOLUME_SEPARATED_SLOWER,
)

pytestmark = needs_tensorflow

ONE, THREE = (2, 32, 32, 1), (2, 32, 32, 3)
BELL = np.exp(-0.5 * (np.arange(-6, 7) / 2) ** 2).astype("float32")
FLAT = np.outer(BELL, BELL)
WHOLE = FLAT[:, :, None, None]
SLOWER = SEPARATED_SLOWER.value
RANDOM = np.random.default_rng(1).normal(size=(13, 13, 1, 1)).astype("float32")


def meshgrid() -> Any:
    line = tf.range(-6.0, 7.0)
    return tf.meshgrid(line, line)


GRID = np.arange(-6, 7, dtype="f")[:, None], np.arange(-6, 7, dtype="f")[None]


def normalised(kernel: Any) -> Any:
    return kernel / tf.reduce_sum(kernel)


def for_channels(kernel: Any) -> Any:
    return tf.tile(kernel[:, :, None, None], [1, 1, 3, 1])


def convolved(x: Any, kernel: Any) -> Any:
    return tf.nn.conv2d(x, kernel, 1, "SAME")


def each(x: Any, kernel: Any) -> Any:
    return tf.nn.depthwise_conv2d(x, kernel, (1, 1, 1, 1), "SAME")


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: convolved(x, WHOLE), ONE),  # a constant of the graph
        (lambda x: convolved(x, FLAT[:, :, None, None] + 0), ONE),
        (lambda x: convolved(x, tf.reshape(FLAT, [13, 13, 1, 1])), ONE),
        (lambda x: convolved(x, tf.constant(BELL)[:, None, None, None] * tf.constant(BELL)[None, :, None, None]), ONE),
        (lambda x: convolved(x, tf.expand_dims(tf.expand_dims(tf.constant(BELL)[:, None] @ BELL[None], 2), 3)), ONE),
        (lambda x: convolved(x, WHOLE * np.eye(3, dtype="float32")), THREE),
        (lambda x: each(x, np.tile(WHOLE, (1, 1, 3, 1))), THREE),
        (lambda x: each(x, np.ones((7, 7, 3, 1), "f") / 49), THREE),
        (
            lambda x: each(x, for_channels(normalised(tf.einsum("i,j->ij", tf.constant(BELL), tf.constant(BELL))))),
            THREE,
        ),
        (lambda x: each(x, for_channels(tf.tensordot(tf.constant(BELL), tf.constant(BELL), axes=0))), THREE),
        (lambda x: each(x, for_channels(normalised(tf.exp(-(tf.constant(GRID[0]) ** 2 + GRID[1]) / 8.0)))), THREE),
        (lambda x: each(x, for_channels(normalised(tf.exp(-sum(side**2 for side in meshgrid()) / 8.0)))), THREE),
        (lambda x: each(x, tf.stack([tf.constant(BELL)[:, None] * BELL[None]] * 3, -1)[..., None]), THREE),
        (lambda x: each(x, tf.ones([7, 7, 3, 1]) / 49.0), THREE),
    ],
)
def test_a_kernel_that_is_a_product(function: Makes, shape: tuple[int, ...]) -> None:
    assert "GRF033" in kinds(function, shape)


def test_a_kernel_that_the_function_captures() -> None:
    kernels = [tf.constant(WHOLE), tf.constant(WHOLE[2:-2, 2:-2])]

    @tf.function
    def blurred(x: Any) -> Any:
        return tf.stack([convolved(x, kernel) for kernel in kernels])

    (one,) = waste_of(blurred.get_concrete_function(tf.TensorSpec(ONE)))
    assert kind_of(one) == "GRF033" and len(one.operations) == 2
    assert (one.sides, one.channels) == ((13, 13), 1)
    assert one.left == pytest.approx(SLOWER * (26 + 18) / (169 + 81))


def test_a_box_that_filters_volumes_is_one_cause() -> None:
    volume = (1, 16, 16, 16, 1)

    def smoothed(x: Any, kernel: Any) -> Any:
        first = tf.nn.conv3d(x, kernel, [1] * 5, "SAME")
        return first, tf.nn.conv3d(x * x, kernel, [1] * 5, "SAME")

    (one,) = (item for item in found(lambda x: smoothed(x, tf.ones([7, 7, 7, 1, 1])), volume) if item.left)
    assert kind_of(one) == "GRF033" and len(one.operations) == 2 and one.sides == (7, 7, 7)
    assert one.left == pytest.approx(VOLUME_SEPARATED_SLOWER.value * 21 / 343)
    weights = np.random.default_rng(1).normal(size=(7, 7, 7, 1, 1)).astype("f")
    assert "GRF033" not in kinds(lambda x: smoothed(x, weights), volume)
    dilated = lambda x: tf.nn.dilation2d(x, tf.ones([7, 7, 1]), [1] * 4, "SAME", "NHWC", [1] * 4)  # noqa: E731
    assert "GRF033" not in kinds(dilated, ONE)


def test_what_is_left_with_channels() -> None:
    (plain,) = (item for item in found(lambda x: convolved(x, WHOLE * np.ones((3, 4), "f")), THREE) if item.left)
    assert plain.left == pytest.approx(SLOWER * (13 * 12 + 13 * 4) / (169 * 12))
    (alone,) = (item for item in found(lambda x: each(x, np.tile(WHOLE, (1, 1, 3, 1))), THREE) if item.left)
    assert alone.left == pytest.approx(EACH_SEPARATED_SLOWER.value * 2 / 13)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: convolved(x, RANDOM),
        lambda x: convolved(x, WHOLE[5:8, 5:8]),  # small
        lambda x: convolved(x, tf.exp(-tf.sqrt(sum(side**2 for side in meshgrid())))[:, :, None, None]),
        lambda x: convolved(x, tf.exp(-((meshgrid()[0] + meshgrid()[1]) ** 2))[:, :, None, None]),  # turned
        lambda x: convolved(x, (sum(side**2 for side in meshgrid()) * np.outer(BELL, BELL))[:, :, None, None]),
        lambda x: convolved(convolved(x, BELL[:, None, None, None]), BELL[None, :, None, None]),  # as it should be
    ],
)
def test_other_kernels(function: Makes) -> None:
    assert "GRF033" not in kinds(function, ONE)


def test_a_kernel_that_may_learn_is_not_looked_at() -> None:
    kernel = tf.Variable(WHOLE)
    assert "GRF033" not in kinds(lambda x: convolved(x, kernel), ONE)
