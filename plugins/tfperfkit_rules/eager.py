"""Rules about steps and loops that Python drives operation by operation."""

from __future__ import annotations

from tfperfkit.evidence import Rule

RULES: tuple[Rule, ...] = ()
