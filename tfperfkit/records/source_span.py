"""A place in source code."""

from __future__ import annotations

import msgspec


class SourceSpan(msgspec.Struct, frozen=True):
    """A place in source code. ``line`` counts from 1; ``function`` is the bare or qualified name."""

    file: str
    line: int
    function: str = ""


class LineTime(msgspec.Struct, frozen=True):
    """A line of the user's, and the seconds for which it was on the stack."""

    where: SourceSpan
    seconds: float
