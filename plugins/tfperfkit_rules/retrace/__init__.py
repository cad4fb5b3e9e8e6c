"""Rules about traces: those that could have been avoided, and tracing in steady steps that no cause explains."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.retrace.avoidable import avoidable_traces
from tfperfkit_rules.retrace.unexplained import traced_again

RULES: tuple[Rule, ...] = (avoidable_traces, traced_again)
