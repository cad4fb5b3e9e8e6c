"""Pictures that are enlarged before each place is computed alone, in graphs that TensorFlow itself traced."""

from __future__ import annotations

from typing import Any

import pytest
from graph_waste import Makes, found, kind_of, kinds
from late_tensorflow import needs_tensorflow, tf

pytestmark = needs_tensorflow

MAPS = (4, 8, 8, 64)
KERNEL = (1, 1, 64, 12)


def larger(x: Any, times: int = 4, method: str = "bilinear") -> Any:
    return tf.image.resize(x, [8 * times, 8 * times], method)


def single(x: Any, kernel: Any) -> Any:
    return tf.nn.conv2d(x, kernel, 1, "SAME")


@pytest.mark.parametrize(
    "function",
    [
        lambda x, k: single(larger(x), k),
        lambda x, k: tf.nn.softmax(tf.nn.bias_add(single(larger(x), k), tf.ones([12]))),
        lambda x, k: single(larger(x, method="bicubic"), k),
        lambda x, k: tf.nn.relu(single(larger(x, method="nearest"), k)),
        lambda x, k: single(larger(tf.cast(x, tf.float16), method="nearest"), tf.cast(k, tf.float16)),
        lambda x, k: single(tf.keras.layers.UpSampling2D(4, interpolation="bilinear")(x), k),
        lambda x, k: single(single(larger(x), tf.ones([1, 1, 64, 64])), k),
    ],
)
def test_a_picture_that_is_enlarged_first(function: Makes) -> None:
    assert kinds(function, MAPS, KERNEL) == {"GRF015"}


@pytest.mark.parametrize(
    "function",
    [
        lambda x, k: larger(single(x, k)),  # as it should be
        lambda x, k: single(tf.nn.relu(larger(x)), k),  # a mean of what was cut off is not what is cut off of a mean
        lambda x, k: tf.nn.conv2d(larger(x), tf.tile(k, [3, 3, 1, 1]), 1, "SAME"),
        lambda x, k: tf.nn.conv2d(larger(x), k, 2, "SAME"),
        lambda x, k: single(tf.image.resize(x, [12, 12]), k),  # not twice as many places
        lambda x, k: single(tf.concat([larger(x), larger(x) * 2.0], -1), tf.concat([k, k], 2)),
    ],
)
def test_one_where_the_order_matters_or_is_right(function: Makes) -> None:
    assert "GRF015" not in kinds(function, MAPS, KERNEL)


@pytest.mark.parametrize(
    ("function", "left", "enlarged"),
    [
        (lambda x, k: single(larger(x), k), 12 / 64, True),
        (lambda x, k: single(larger(x), k) + tf.reduce_sum(larger(x) * 2.0), 12 / 64, True),
        (lambda x, k: (y := larger(x)) is not None and single(y, k) + tf.reduce_sum(y * 2.0), 1 / 16, False),
        (lambda x, k: single(larger(x), tf.ones([1, 1, 64, 96])) + k[0, 0, 0, 0], 1 / 16, False),
    ],
)
def test_what_is_left_of_it(function: Makes, left: float, enlarged: bool) -> None:
    (waste,) = (each for each in found(function, MAPS, KERNEL) if kind_of(each) == "GRF015")
    assert waste.left == pytest.approx(left)
    assert any("resize" in name.lower() for name in waste.operations) == enlarged
    assert waste.times == 16 and waste.before == 64
