"""Rules about steps and loops that Python drives operation by operation."""

from __future__ import annotations

from tfperfkit.evidence import Rule
from tfperfkit_rules.eager_step import eager_step

RULES: tuple[Rule, ...] = (eager_step,)
