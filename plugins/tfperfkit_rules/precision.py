"""Rules about number formats."""

from __future__ import annotations

from tfperfkit.evidence import Rule

RULES: tuple[Rule, ...] = ()
