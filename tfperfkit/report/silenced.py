"""The sentence about findings that the user silences."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.model import Finding
from tfperfkit.records.plural import plural


def say_silenced(silenced: Sequence[Finding]) -> str:
    """Return how many findings are silenced, and by what; "" if none is."""
    if not silenced:
        return ""
    verb = "is" if len(silenced) == 1 else "are"
    named = ", ".join(dict.fromkeys(f"{item.code} ({item.silenced})" for item in silenced))
    return f"{plural(len(silenced), 'finding')} {verb} silenced: {named}."
