"""Arrays that grow in place: the numbers of a join, and no rows that two arrays share and the script still has."""

from __future__ import annotations

import numpy as np
from tfperfkit_experiments.grow_in_place import Room


def _rows(value: float, count: int = 1) -> np.ndarray:
    return np.full((count, 2), value)


def test_it_grows_behind_its_last_row_and_is_copied_as_room_ends() -> None:
    room, grown, expected, buffers = Room(), _rows(0.0), _rows(0.0), set()
    for turn in range(1, 40):
        grown = room.joined(grown, _rows(turn, turn % 3))
        expected = np.concatenate([expected, _rows(turn, turn % 3)])
        buffers.add(grown.base.ctypes.data)
        np.testing.assert_array_equal(grown, expected)
        assert room.has(grown) and grown.flags.c_contiguous
    assert len(buffers) < 8


def test_the_last_rows_of_one_go_on_in_its_buffer() -> None:
    room, kept = Room(), np.arange(4.0)
    for turn in range(9):
        kept = room.joined(kept, np.array([10.0 + turn]))[-4:]
    np.testing.assert_array_equal(kept, [15.0, 16.0, 17.0, 18.0])


def test_an_array_that_the_script_keeps_is_not_written_over() -> None:
    room, grown, history = Room(), _rows(0.0), []
    for turn in range(1, 12):
        grown = room.joined(grown, _rows(turn))
        history.append(grown)
    grown[:] = -1.0
    for rows, array in enumerate(history[:-2], 2):
        np.testing.assert_array_equal(array[:, 0], np.arange(rows))


def test_what_ends_before_the_last_row_is_copied() -> None:
    room = Room()
    grown = room.joined(_rows(0.0), _rows(1.0, 3))[:-1]
    assert room.joined(grown, _rows(9.0))[:, 0].tolist() == [0.0, 1.0, 1.0, 9.0]
    other = room.joined(np.zeros((2, 3)), np.ones((1, 3)))[:, :2]
    np.testing.assert_array_equal(room.joined(other, _rows(5.0)), [[0, 0], [0, 0], [1, 1], [5, 5]])
