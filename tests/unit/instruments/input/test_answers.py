"""The recognition of the data and the results of ``predict``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfperfkit.instruments.input.answers import SAMPLES, mark

LARGE = np.random.default_rng(1).normal(size=(400, 21, 11)).astype("float32")


@pytest.mark.parametrize(
    "value",
    [
        LARGE,
        LARGE[::2, :, 1:],
        [LARGE, {"a": LARGE[0]}, None],
        {"loss": 0.5, "count": 3},
        [LARGE[n] for n in range(400)],
    ],
    ids=["large", "no block", "nested", "numbers", "many"],
)
def test_the_same_values_have_the_same_mark(value: Any) -> None:
    assert mark(value) is not None and mark(value) == mark(value)


def test_copies_are_alike_and_other_shapes_types_and_values_are_not() -> None:
    marks = [
        mark(item)
        for item in (
            LARGE,
            LARGE[:399],
            LARGE.reshape(400, 11, 21),
            LARGE.astype("float64"),
            LARGE + 1,
            [LARGE] * 2,
            -LARGE,
        )
    ]
    assert mark(LARGE.copy()) == marks[0] and len(set(marks)) == len(marks)


@pytest.mark.parametrize("column", range(21))
def test_each_part_of_a_large_array_is_in_the_sample(column: int) -> None:
    changed = LARGE.copy()
    changed[:, column] = 0
    assert LARGE.size > 50 * SAMPLES and mark(changed) != mark(LARGE)


def test_each_number_of_a_small_one_counts() -> None:
    small = np.arange(SAMPLES)
    for index in (0, 7, SAMPLES - 1):
        changed = small.copy()
        changed[index] += 1
        assert mark(changed) != mark(small)


def test_a_dataset_is_known_by_its_number() -> None:
    first, second = object(), object()
    numbers = {id(first): 1, id(second): 2}
    marks = [mark([item], lambda data: numbers.get(id(data), 0)) for item in (first, second, first)]
    assert marks[0] == marks[2] != marks[1] and None not in marks


@pytest.mark.parametrize(
    "value",
    [object(), np.array([object()]), (n for n in range(3)), [[[[[[1]]]]]], [0] * 30_000],
    ids=["object", "objects", "generator", "deep", "endless"],
)
def test_what_has_no_numbers_is_unknown(value: Any) -> None:
    assert mark(value) is None


def test_an_array_in_a_file_is_not_read(tmp_path: Any) -> None:
    on_disk = np.memmap(tmp_path / "x", "float32", "w+", shape=(10, 10))
    assert mark(on_disk) is None
