"""Asking a run that is watched for a window: a file that its process looks for, and another with the answer."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tfperfkit.clock import now_ns
from tfperfkit.records.history import ANSWER, ASKED, Answer, Asked, Why
from tfperfkit.storage import safe_reader
from tfperfkit.storage.stream_writer import encoder


def ask(folder: Path, why: Why, text: str) -> int:
    """Ask; returns the number of the request. Raises OSError when it can't be written."""
    asked = Asked(id=now_ns(), why=why, text=text)
    safe_reader.write_file(folder, ASKED, encoder.encode(asked))
    return asked.id


def answer(folder: Path, number: int) -> Answer | None:
    """Return the answer to this request; None as long as there is none."""
    try:
        found = msgspec.convert(safe_reader.read_json(folder, ANSWER), Answer)
    except msgspec.ValidationError:
        return None
    return found if found.id == number else None
