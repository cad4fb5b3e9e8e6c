"""Rules about compiled functions: work that need not be done, and what in a graph costs more than it should."""

from __future__ import annotations

from tfperfkit_rules.collecting import collect_rules

RULES = collect_rules(__name__)
