"""Collect the features that instruments found missing in this TensorFlow while they worked, for the notes of the
report.

Each once.
"""

from __future__ import annotations

_MAX = 20
_found: list[str] = []


def remark(text: str) -> None:
    """Keep a sentence for the report."""
    if text not in _found and len(_found) < _MAX:
        _found.append(text)


def take() -> list[str]:
    """Return the notes since the last call."""
    found = list(_found)
    _found.clear()
    return found
