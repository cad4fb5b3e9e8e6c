"""What passes until the iterators of the steps' datasets are freed: it goes with what the steps take.

TensorFlow frees an iterator when its threads have ended. One of them sleeps twice as long each time, and sometimes
is not woken: the wait is what is left of its sleep, at most as long as the iterator has lived, and on an average in
proportion to that.
"""

from __future__ import annotations

from tfperfkit import gain
from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Basis
from tfperfkit.offers import Pipelines
from tfperfkit.records.freed import freed
from tfperfkit.rule import Evidence


def freeing_s(run: Evidence) -> dict[Basis, float]:
    """Seconds of such waits since the first step, for findings of steps; for those of turns, which have what passes
    between steps, since the last one. Nothing where no pipeline is known to feed the steps."""
    steps, pipelines = run.steps.steps, run.offer(Pipelines)
    if not steps or pipelines is None or not pipelines.iterated or not pipelines.feeds_steps:
        return {}
    waits = [wait for wait in freed(run.log) if wait.begin_ns >= steps[0].begin_ns]
    behind = sum(wait.ns for wait in waits if wait.begin_ns >= steps[-1].end_ns)
    return {"step": sum(wait.ns for wait in waits) / NS_PER_S, "turn": behind / NS_PER_S}


def shorter_s(freed_s: float, of_s: float, factor: float) -> tuple[float, float]:
    """Of these seconds, what goes when the ``of_s`` that the iterators lived become ``factor`` times as short: at
    least, were each wait as long as it can be then, and in proportion."""
    return max(0.0, freed_s - of_s / factor), freed_s * gain.saving(factor)
