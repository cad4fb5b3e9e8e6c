"""Rules about too little work in a step."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.batch.larger import larger_batch
from tfperfkit_rules.batch.size import small_batch

RULES: tuple[Rule, ...] = (small_batch, larger_batch)
