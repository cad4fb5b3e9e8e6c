"""The streams of a run as files of their own, for a test that changes one of them: they are read all the same."""

from __future__ import annotations

from pathlib import Path

from tfperfkit.storage.run_directory import RECORDS
from tfperfkit.storage.safe_reader import read_streams


def apart(run: Path) -> Path:
    """Take the streams out of their common file."""
    for name, lines in read_streams(run, RECORDS).items():
        path = run / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lines)
    (run / RECORDS).write_bytes(b"")
    return run
