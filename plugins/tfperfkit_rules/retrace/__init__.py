"""Rules about traces: those that could have been avoided, and tracing in steady steps that no cause explains."""

from __future__ import annotations

from tfperfkit_rules.collecting import collect_rules

RULES = collect_rules(__name__)
