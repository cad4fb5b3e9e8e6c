"""The time of the first execution of a new trace, beyond running its graph again.

The first call of a trace optimises the graph, partitions it and prepares it; that call is timed. The time of later runs
follows from the graph's arithmetic, the bytes that it moves and the cost of a call. So the loss of a trace is known
even if no window shows one, outside of training steps.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.offers import FunctionCost, FunctionCosts
from tfperfkit.pricing import costs
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time
from tfperfkit_rules.measures.graph_time import GRAPH_LEFT
from tfperfkit_rules.measures.trace_window import traced

#: A function by its file, the line of its definition and its name.
Traced = tuple[str, int, str]


class FirstRuns(NamedTuple):
    """ms, at least and at most, that first executions take beyond what the same calls would; ``again``: what these
    calls take at worst, None where it is not known."""

    lower: float
    upper: float
    again: float | None = None


def beyond(evidence: Evidence, functions: Iterable[tuple[Traced, int]]) -> FirstRuns | None:
    """Of functions, each with the number of its traces that would not be. None where the first execution of none was
    timed, or where what its graph takes is not known."""
    costs = evidence.offer(FunctionCosts)
    known: dict[Traced, list[FirstRuns]] = {}
    for cost in costs.functions if costs is not None else ():  # a row for each signature
        each = _measure_first_runs(evidence, cost)
        if each is not None:
            known.setdefault((cost.file, cost.line, cost.function), []).append(each)
    found = [(count, known[name]) for name, count in functions if count and name in known]
    if not found:
        return None
    return FirstRuns(
        sum(count * statistics.median(each.lower for each in rows) for count, rows in found),
        sum(count * statistics.median(each.upper for each in rows) for count, rows in found),
        sum(count * statistics.median(each.again or 0.0 for each in rows) for count, rows in found),
    )


def _measure_first_runs(evidence: Evidence, cost: FunctionCost) -> FirstRuns | None:
    if cost.first_execution_ms is None:
        return None
    again = graph_time.float32_ms(evidence, [(cost, 1.0)])
    if again is None:
        return None
    first, slowest = cost.first_execution_ms, again[1] + costs.FUNCTION_CALL_MAX_MS.value
    return FirstRuns(max(first - slowest, 0.0), max(first - again[0] - costs.FUNCTION_CALL_MIN_MS.value, 0.0), slowest)


def idle(evidence: Evidence) -> FirstRuns | None:
    """Return the ms of an iteration of the work, or of all of it, in which compiled functions were called and none of
    their operations ran, by a trace of the work. None without a trace."""
    seen = traced(evidence)
    if seen is None:
        return None
    own = sum(row.self_ms for row in seen.rows if row.where == "graph") * seen.scale
    called = evidence.part("graph")
    return FirstRuns(max(called - GRAPH_LEFT.value * own, 0.0), max(called - own, 0.0))
