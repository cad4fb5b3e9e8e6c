"""A number and its noun, in the singular or plural."""

from __future__ import annotations


def plural(number: int, noun: str) -> str:
    """ "1 step", "1,200 steps", "2 batches"; ``noun`` in the singular."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith(('ch', 's', 'x')) else 's'}"
