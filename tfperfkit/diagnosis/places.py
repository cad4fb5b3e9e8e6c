"""How sentences name a place in the user's code."""

from __future__ import annotations

from tfperfkit.model import SourceSpan


def name_place(span: SourceSpan) -> str:
    """Return ``train.py:12``."""
    return f"{span.file.rpartition('/')[2]}:{span.line}"
