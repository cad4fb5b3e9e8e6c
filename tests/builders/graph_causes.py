"""The causes that rules find in a graph, and evidence in which they have found something."""

from __future__ import annotations

from typing import Any, get_args

from tfperfkit_rules.graph import RULES
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.rule import GraphRule

from tfperfkit.graph.model import Graph
from tfperfkit.graph.recorded import RecordedFunction, RecordedGraphs

GRAPH_RULES: list[GraphRule[Any]] = [rule for rule in RULES if isinstance(rule, GraphRule)]
#: The rule that finds a cause, by the cause's type.
RULE_OF = {kind: rule for rule in GRAPH_RULES for kind in get_args(type(rule).__orig_bases__[0])}  # type: ignore[attr-defined]


def causes_in(graph: Graph, *known: Any, **more: Any) -> list[Cause]:
    """All causes in a graph and in what it calls. ``known``: the other arguments of ``RecordedFunction``."""
    graphs = RecordedGraphs({graph.name: RecordedFunction(graph, *known, **more)})
    return [cause for rule in GRAPH_RULES for cause in graphs.once(rule.__name__, graph.name, rule._causes)]


def code_of(cause: Cause) -> str:
    """The code under which a cause is reported."""
    return rule_of(cause).code


def rule_of(cause: Cause) -> GraphRule[Any]:
    """The rule that finds and reports a cause."""
    return next(RULE_OF[kind] for kind in type(cause).__mro__ if kind in RULE_OF)


def offer_causes(graph: str, *causes: Cause) -> RecordedGraphs:
    """Offer graphs in which the rules have found these causes, in the graph of this name."""
    offered = RecordedGraphs({})
    for cause in causes:
        offered.found.setdefault((rule_of(cause).__name__, graph), []).append(cause)
    return offered
