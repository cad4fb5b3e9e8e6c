"""Computing and waiting of a rank, by samples that stand close together and by ones that stand alone."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import MS, make_evidence, make_steps

from tfperfkit.diagnosis.rank_samples import sampled

STACKS = [["stack", 1, [], "tensorflow", "graph", ""], ["stack", 2, [["t.py", 1, "f", 2, None]], "", "python", ""]]


def found(samples: list[list[Any]]) -> Any:
    return sampled(make_evidence(steps=make_steps(600, 10.0), records={"samples": [*STACKS, *samples]}))


def test_close_samples_tell_by_the_time_between_them() -> None:
    """Compute for a third of the time in compiled functions."""
    rows = [["s", n * 10 * MS, 1, 7, n * 10 * MS // 3] for n in range(10, 590)]
    made = found(rows)
    assert made.compute_share == pytest.approx(1 / 3, abs=0.01)
    assert made.own_ms and set(map(round, made.own_ms.values())) == {3}


def test_samples_that_stand_alone_have_a_reading_of_their_own() -> None:
    """The time between them, work of other steps, is not asked for."""
    rows = []
    for n in range(1, 29):
        when, used = n * 200 * MS, n * 150 * MS
        rows.append(["s", when, 1, 7, used, when - 10 * MS, used - 2 * MS])
    made = found(rows)
    assert made.compute_share == pytest.approx(0.2, abs=0.01)
    assert made.own_ms == {}


def test_a_reading_that_came_too_early_tells_nothing() -> None:
    """The interpreter's lock was held meanwhile: the stack at its end says nothing of that time."""
    rows = [["s", n * 200 * MS, 1, 7, n * 150 * MS, n * 200 * MS - 90 * MS, 0] for n in range(1, 29)]
    assert found(rows) is None
