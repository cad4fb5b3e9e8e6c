"""When a trace is ended early: its buffers grow."""

from __future__ import annotations

import pytest
from tfperfkit_probes.tfprof.record import MAX_STEADY_BYTES, grow_steadily

STEP = MAX_STEADY_BYTES // 5


@pytest.mark.parametrize(
    ("looks", "grows"),
    [
        ([STEP * number for number in range(1, 8)], True),
        ([STEP * number for number in range(1, 6)], False),  # too short to tell
        ([STEP // 10 * number for number in range(1, 30)], False),  # few events
        ([0, 0, 8 * STEP, 8 * STEP, 8 * STEP, 8 * STEP, 8 * STEP], False),  # the script allocates once
        ([STEP, 9 * STEP, STEP, 9 * STEP, STEP, 9 * STEP], False),  # data that comes and goes
    ],
)
def test_events_make_memory_grow_from_look_to_look(looks: list[int], grows: bool) -> None:
    assert grow_steadily([1000 + look for look in looks], 1000) is grows
