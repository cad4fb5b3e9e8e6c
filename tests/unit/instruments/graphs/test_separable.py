"""Kernels that are products of a column, a row and a matrix of channels."""

from __future__ import annotations

import numpy as np
import pytest

from tfperfkit.instruments.graphs.separable import is_product

RNG = np.random.default_rng(2)
COLUMN, ROW, CHANNELS = (RNG.normal(size=size).astype("float32") for size in (13, 9, (3, 4)))
FLAT = np.outer(COLUMN, ROW)


@pytest.mark.parametrize(
    "kernel",
    [
        FLAT,
        FLAT[:, :, None, None],
        FLAT[:, :, None, None] * CHANNELS,
        FLAT[:, :, None, None] * np.eye(3, dtype="float32"),
        np.ones((7, 7)),
    ],
    ids=["matrix", "one channel", "channels", "each channel", "mean"],
)
def test_a_product(kernel: np.ndarray) -> None:
    assert is_product(kernel)


def test_no_product() -> None:
    for kernel in (RNG.normal(size=(9, 9)), np.eye(9), np.zeros((9, 9)), np.full((9, 9), np.nan)):
        assert not is_product(kernel)
    changed = FLAT.copy()
    changed[3, 4] += 0.01 * np.abs(FLAT).max()
    assert not is_product(changed)
    # Each channel is one, with another column.
    assert not is_product(np.stack([FLAT, FLAT[::-1]], -1)[:, :, None])
