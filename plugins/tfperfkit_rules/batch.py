"""Rules about too little work in a step."""

from __future__ import annotations

from tfperfkit.evidence import Rule
from tfperfkit_rules.batch_size import small_batch

RULES: tuple[Rule, ...] = (small_batch,)
