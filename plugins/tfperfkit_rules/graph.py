"""Rules about work in graphs that need not be done."""

from __future__ import annotations

from tfperfkit.evidence import Rule

RULES: tuple[Rule, ...] = ()
