"""The tables of probe ``lines``: which functions are worth one."""

from __future__ import annotations

from pathlib import Path

from tfperfkit_probes.lines import tables

from tfperfkit.testing import FakeRecording, capture_of

MS = 1_000_000


def test_functions_of_next_to_nothing_have_no_table(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    recording.append("window", {"ns": 1000 * MS})
    recording.append("functions", {"file": "a.py", "line": 1, "function": "busy", "lines": [[2, 5, 600 * MS]]})
    many = [[number, 1, MS // 10_000] for number in range(20, 40)]
    recording.append("functions", {"file": "a.py", "line": 19, "function": "long", "lines": many})
    recording.append("functions", {"file": "a.py", "line": 50, "function": "short", "lines": [[51, 9, MS // 100]]})
    result = tables.report(capture_of(recording))
    assert [table.title for table in result.tables] == ["busy (a.py:1)"]
    assert [function.function for function in result.data.python_functions] == ["busy", "short", "long"]
