"""Rules about steps and loops that Python drives operation by operation."""

from __future__ import annotations

from tfperfkit_rules.collecting import collect_rules

RULES = collect_rules(__name__)
