"""The cost of a model that is created or compiled again, outside the training steps: ``evaluate`` and ``predict`` trace
their functions again, too."""

from __future__ import annotations

from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Elsewhere
from tfperfkit.records.samples import MIN
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.moments import moments


def evaluated_again(evidence: Evidence) -> tuple[Elsewhere, ...]:
    """Return the time of all traces there but the first, which is needed; each takes about the same time. The upper
    bound adds the Python that creates these functions. Empty after a single trace, or with too few samples."""
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
