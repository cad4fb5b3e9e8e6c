"""Rules about memory that grows or runs out."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.memory.growth import graphs_grow, kept
from tfperfkit_rules.memory.known_leaks import known_leaks
from tfperfkit_rules.memory.limit import near_limit
from tfperfkit_rules.memory.session_graph import session_graph

RULES: tuple[Rule, ...] = (kept, graphs_grow, session_graph, known_leaks, near_limit)
