"""Rules about the step's surroundings: Python, fit, checkpoints and summaries."""

from __future__ import annotations

from tfperfkit.evidence import Rule
from tfperfkit_rules.step_fit import one_call_a_step
from tfperfkit_rules.step_hot import hot_path
from tfperfkit_rules.step_python import hot_python

RULES: tuple[Rule, ...] = (hot_python, hot_path, one_call_a_step)
