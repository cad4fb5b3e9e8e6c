"""Rules about number formats."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.precision.bfloat16 import bfloat16
from tfperfkit_rules.precision.half import float16_on_cpu, unused_half_precision

RULES: tuple[Rule, ...] = (
    float16_on_cpu,
    unused_half_precision,
    bfloat16,
)
