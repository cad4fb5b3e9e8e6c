"""How long sequences are without their padding, by the array alone."""

from __future__ import annotations

import numpy as np
import pytest

from tfperfkit.instruments.padding import padding_of


def padded(lengths: list[int], width: int, *, before: bool = False, value: int = 0) -> np.ndarray:
    rows = np.full((len(lengths), width), value)
    for row, length in zip(rows, lengths, strict=True):
        row[width - length :] = np.arange(1, length + 1) if before else row[width - length :]
        if not before:
            row[:length] = np.arange(1, length + 1)
    return rows


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("value", [0, 77])
def test_padding_at_either_end_with_any_number(before: bool, value: int) -> None:
    found = padding_of(padded([4, 8, 12, 16] * 20, 40, before=before, value=value), 20)
    assert found is not None
    assert (found.width, found.mean, found.longest, found.rows, found.before) == (40, 10.0, 16, 80, before)
    assert found.alike == 10.0  # four batches of twenty, each of one length
    assert found.quartiles == (8, 12, 16)


def test_of_many_rows_some_are_looked_at_and_batches_scaled() -> None:
    found = padding_of(padded([5] * 2000 + [25] * 2000, 50), 1000)
    assert found is not None and found.rows == 500 and found.mean == 15.0 and found.alike == 15.0


@pytest.mark.parametrize(
    "array",
    [
        np.arange(200).reshape(10, 20) % 7 + np.arange(10)[:, None],
        np.zeros((50, 30)),
        np.zeros((50, 4), int),
        np.zeros((50, 30, 3), int),
        [[1, 2, 0, 0, 0, 0, 0, 0, 0]],
        np.zeros((0, 30), int),
    ],
    ids=["no padding", "floats", "a table", "pictures", "a list", "empty"],
)
def test_what_is_no_padded_sequence(array: object) -> None:
    found = padding_of(array, 32)
    assert found is None or found.mean > 0.9 * found.width
