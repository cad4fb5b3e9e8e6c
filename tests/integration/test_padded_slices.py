"""The data of a dataset: sequences of whole numbers with padding, read off TensorFlow's own tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from late_tensorflow import needs_tensorflow, tf

from tfperfkit.instruments.input.describe import describe

pytestmark = needs_tensorflow
LENGTHS = np.arange(40) % 5 + 1
TOKENS = np.where(np.arange(16) < LENGTHS[:, None], 7 + np.arange(16), 0)
LABELS = np.zeros(40, np.int64)


def test_padded_sequences_are_found_among_what_is_sliced() -> None:
    found = describe(tf.data.Dataset.from_tensor_slices((LABELS, TOKENS)))[0].padding
    assert found is not None
    assert (found.width, found.longest, found.rows, found.before) == (16, 5, 40, False)
    assert found.mean == pytest.approx(3.0)


@pytest.mark.parametrize(
    "given",
    [TOKENS.astype(np.float32), LABELS, TOKENS[:, :4]],
    ids=["numbers", "labels", "a table"],
)
def test_nothing_else_is(given: Any) -> None:
    assert describe(tf.data.Dataset.from_tensor_slices(given))[0].padding is None


def test_nor_what_a_graph_holds_or_a_batch_is() -> None:
    found: list[Any] = []

    @tf.function
    def build(tokens: Any) -> Any:
        made = tf.data.Dataset.from_tensor_slices(tokens)
        found.append(describe(made)[0].padding)
        return made.reduce(tf.constant(0, tf.int64), lambda total, row: total + tf.reduce_sum(row))

    build(tf.constant(TOKENS))
    assert found == [None]
    assert describe(tf.data.Dataset.from_tensor_slices(TOKENS).batch(4))[0].padding is None
