"""Rules about memory that grows or runs out."""

from __future__ import annotations

from tfperfkit_rules.collecting import collect_rules

RULES = collect_rules(__name__)
