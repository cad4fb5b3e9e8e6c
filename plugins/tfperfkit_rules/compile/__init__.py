"""Rules about tracing, compiling and XLA."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.compile.launching import launching
from tfperfkit_rules.compile.tracing import many_small_operations, run_spent_on_compiling
from tfperfkit_rules.compile.xla import compiles_again, slower_by_xla, without_effect

RULES: tuple[Rule, ...] = (
    compiles_again,
    many_small_operations,
    slower_by_xla,
    run_spent_on_compiling,
    without_effect,
    launching,
)
