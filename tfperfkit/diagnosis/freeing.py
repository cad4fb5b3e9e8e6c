"""Waits until the iterators of the steps' datasets are destroyed. They get shorter if the steps get shorter
(``pricing.run_time.saved_wait``)."""

from __future__ import annotations

from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Basis
from tfperfkit.offers import Pipelines
from tfperfkit.records.freed import freed
from tfperfkit.rule import Evidence


def waits_for_iterators(run: Evidence) -> dict[Basis, float]:
    """Return the seconds of these waits by basis of a finding; empty if no pipeline is known to feed the steps.

    For findings about steps, all waits since the first step count. Findings about iterations of the training loop
    already have what passes between steps, so that only waits after the last step count.
    """
    steps, pipelines = run.steps.steps, run.offer(Pipelines)
    if not steps or pipelines is None or not pipelines.iterated or not pipelines.feeds_steps:
        return {}
    waits = [wait for wait in freed(run.log) if wait.begin_ns >= steps[0].begin_ns]
    after = sum(wait.ns for wait in waits if wait.begin_ns >= steps[-1].end_ns)
    return {"step": sum(wait.ns for wait in waits) / NS_PER_S, "turn": after / NS_PER_S}
