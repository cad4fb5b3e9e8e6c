"""When the graph of a session is read: once, when no more is likely to be added to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfperfkit_probes.ops.record import Recorder

from tfperfkit.clock import NS_PER_S
from tfperfkit.instruments.graphs.session_runs import Run
from tfperfkit.testing import FakeRecording


class Graphs:
    """Notes which graphs were to be recorded."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def record(self, graph: object, name: str) -> None:
        self.names.append(name)

    def end(self) -> tuple[str, ...]:
        return ()


def read_after(tmp_path: Path, *begins_s: float) -> list[int]:
    """Return after which of the runs of one place the graph was read."""
    recorder, graphs = Recorder(FakeRecording(tmp_path)), Graphs()
    recorder.graphs = graphs
    found = []
    for number, begin in enumerate(begins_s, 1):
        before = len(graphs.names)
        recorder.ran(Run(None, 1, number, "train.py", 7, 1, round(begin * NS_PER_S), ["loss"], {}, {}))
        found += [number] * (len(graphs.names) - before)
    return found


@pytest.mark.parametrize(
    ("begins_s", "read"),
    [
        ([number / 100 for number in range(20)], [8]),
        ([0.0, 1.5, 3.0, 4.5], [2]),
        ([number * 1.5 for number in range(12)], [2]),
        ([0.0, 0.1, 0.2], []),
    ],
)
def test_a_graph_is_read_at_the_eighth_run_or_after_a_long_one(
    tmp_path: Path, begins_s: list[float], read: list[int]
) -> None:
    assert read_after(tmp_path, *begins_s) == read
