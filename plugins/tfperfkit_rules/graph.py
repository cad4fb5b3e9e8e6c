"""Rules about work in graphs that need not be done."""

from __future__ import annotations

from tfperfkit.evidence import Rule
from tfperfkit_rules.graph_gradients import repeated_gradients
from tfperfkit_rules.graph_ops import graph_findings

RULES: tuple[Rule, ...] = (graph_findings, repeated_gradients)
