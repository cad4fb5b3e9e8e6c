"""Rules about the step's surroundings: Python, fit, checkpoints and summaries."""

from __future__ import annotations

from tfperfkit.evidence import Rule

RULES: tuple[Rule, ...] = ()
