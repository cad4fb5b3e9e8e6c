"""What a model that is made or compiled again costs beside the training steps: ``evaluate`` and ``predict`` trace their
functions again, too."""

from __future__ import annotations

from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Elsewhere
from tfperfkit.records.samples import MIN
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.moments import moments


def evaluated_again(evidence: Evidence) -> tuple[Elsewhere, ...]:
    """Of the traces there all but the first, which has to be: they take about the same each. At most goes what Python
    does to make these functions, too. Nothing where it traced once, or too few samples saw it."""
    if evidence.work is not None:
        return ()
    traced = made = seen = 0
    between = set[int]()  # two traces with a training step between them are two
    for when, stack, took in moments(evidence):
        if stack.context != "evaluate" or stack.activity not in ("tracing", "dispatch"):
            continue
        made += took
        if stack.activity == "tracing":
            traced, seen = traced + took, seen + 1
            between.add(evidence.steps.number_at(when))
    if len(between) < 2 or seen < MIN:
        return ()
    again = (1 - 1 / len(between)) / NS_PER_S
    where = "tracing the functions that evaluate and predict call"
    return (Elsewhere(seconds=(again * traced, again * made), where=where),)
