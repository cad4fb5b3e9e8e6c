"""Counts of a run that do not depend on how fast the machine is."""

from __future__ import annotations

from collections import defaultdict

from tfperfkit.offers import FunctionCosts, HostReads, RanOperations, TraceCounts
from tfperfkit.rule import Evidence

#: Whose functions count: those of the script and what Keras makes for its models.
OWNERS = ("user", "keras")


def retraces(evidence: Evidence) -> int | None:
    """Traces of the script's and Keras' functions beyond the first, over the run. None if none was recorded."""
    counts = evidence.offer(TraceCounts)
    return sum(each.retraces for each in counts.functions if each.owner in OWNERS) if counts is not None else None


def eager_per_step(evidence: Evidence) -> float | None:
    """Operations that Python called one by one in a traced step. None without a trace."""
    ran = evidence.offer(RanOperations)
    if ran is None or ran.steps < 1:
        return None
    return sum(row.count for row in ran.rows if row.where == "eager") / ran.steps


def reads_per_step(evidence: Evidence) -> float | None:
    """Values of tensors that Python read in a step, over all lines. None where reads were not recorded."""
    reads = evidence.offer(HostReads)
    return sum(row.per_step or 0.0 for row in reads.rows) if reads is not None else None


def graph_operations(evidence: Evidence) -> int | None:
    """Operations in the compiled functions of the script and of Keras, as traced; of a function that was traced several
    times its largest graph counts. None if no graph was recorded."""
    costs = evidence.offer(FunctionCosts)
    if costs is None:
        return None
    largest: dict[tuple[str, int, str], int] = defaultdict(int)
    for each in costs.functions:
        if each.owner in OWNERS:
            key = (each.file, each.line, each.function)
            largest[key] = max(largest[key], each.operations)
    return sum(largest.values())
