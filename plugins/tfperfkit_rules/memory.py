"""Rules about memory that grows or runs out."""

from __future__ import annotations

from tfperfkit.evidence import Rule
from tfperfkit_rules.memory_growth import graphs_grow, kept, session_graph
from tfperfkit_rules.memory_limit import near_limit

RULES: tuple[Rule, ...] = (kept, graphs_grow, session_graph, near_limit)
