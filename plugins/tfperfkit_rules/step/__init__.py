"""Rules about the step's surroundings: Python, fit, checkpoints and summaries."""

from __future__ import annotations

from tfperfkit_rules.collecting import collect_rules

RULES = collect_rules(__name__)
