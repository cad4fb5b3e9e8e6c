"""Counts claims by kind: how many were made, how many execution refuted, and how many are true by execution."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """Counts of one or of many programs.

    ``programs`` ran, ``failed`` raise by themselves. By kind of claim: ``claims`` that were made, ``refuted`` ones, and
    ``true`` ones: execution saw no counterexample. ``examples`` describe the refuted claims.
    """

    programs: int = 0
    failed: int = 0
    claims: Counter[str] = field(default_factory=Counter)
    refuted: Counter[str] = field(default_factory=Counter)
    true: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def count(self, kind: str, claimed: bool, holds: bool) -> bool:
        """Count one claim that was or was not made. Return whether it is refuted."""
        self.claims[kind] += claimed
        self.true[kind] += holds
        self.refuted[kind] += claimed and not holds
        return claimed and not holds

    def add(self, other: Tally) -> None:
        """Add the counts of other programs."""
        self.programs += other.programs
        self.failed += other.failed
        for mine, theirs in ((self.claims, other.claims), (self.refuted, other.refuted), (self.true, other.true)):
            mine.update(theirs)
        self.examples += other.examples

    def share(self, kind: str) -> float:
        """Return the share of the true claims of a kind that were made."""
        return (self.claims[kind] - self.refuted[kind]) / max(self.true[kind], 1)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {name: dict(each) if isinstance(each, Counter) else each for name, each in vars(self).items()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Tally:
        """Read counts back from plain values."""
        return cls(**{name: Counter(each) if isinstance(each, dict) else each for name, each in data.items()})
