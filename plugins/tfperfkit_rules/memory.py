"""Rules about memory that grows or runs out."""

from __future__ import annotations

from tfperfkit.evidence import Rule

RULES: tuple[Rule, ...] = ()
