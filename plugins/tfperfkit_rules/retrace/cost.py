"""The cost of avoidable traces, as a share of the steps' time, and the time of the first trace, which stays."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections import Counter
from collections.abc import Sequence

from tfperfkit_probes.retrace.model import Trace

from tfperfkit import gain
from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.clock import NS_PER_MS
from tfperfkit.model import Elsewhere
from tfperfkit.pricing.bounds import Bounds
from tfperfkit.pricing.run_time import pay_once
from tfperfkit.records.steps import StepTable
from tfperfkit_rules.measures import shared

ORDINARY = Threshold(
    3,
    "steps",
    "minimum number of steps without a trace that tell the length of an ordinary step",
    Chosen("fewer have no middle one"),
)


def lost_ns(trace: Trace) -> int:
    """Return the time of a trace in ns."""
    return round(trace.ms * NS_PER_MS)


def pay_first(
    steps: StepTable, gained: gain.Gain, traces: Sequence[Trace] | None = None, *, apart: float = 1.0
) -> tuple[Elsewhere, ...]:
    """Return the seconds of a gain of all steps that the first trace keeps.

    A gain of the mean clean step holds for as many such steps: the warm-up takes longer by the first trace, and one
    trace, that of ``apart`` steps, is needed. ``traces``: of steps that only partly trace. Their gain is of the steps
    behind the warm-up with the traces in it (``Time.share``), so all else in the warm-up stays, but for the first runs
    of these traces.
    """
    clean, warm = steps.clean, steps.in_window("warmup")
    if gained.low is None or gained.high is None or not clean:
        return ()
    spent = sum(step.end_ns - step.begin_ns for step in warm)
    mean = sum(step.end_ns - step.begin_ns for step in clean) / max(sum(step.count for step in clean), 1)
    if traces is None:
        least = most = max(spent - mean * sum(step.count for step in warm), 0.0) + mean * apart
    else:
        lost = Counter[int]()
        for trace in traces:
            lost[trace.step] += lost_ns(trace)
        found = [(step.end_ns - step.begin_ns - mean * step.count, lost[step.number]) for step in warm]
        # At best the first runs of these traces go too, all that makes their steps longer than the others.
        least, most = (
            spent - sum(gone) for gone in ([max(each) for each in found if each[1]], [ns for _, ns in found])
        )
    saved = (gain.saving(gained.low) + gain.saving(gained.high)) / 2 / NS_PER_MS
    paid = Bounds(max(least, 0.0) * saved, max(most, 0.0) * saved)
    return (pay_once(paid, "the first steps and their first trace, which stay"),)


@dataclasses.dataclass(frozen=True)
class Time:
    """The time that lost time is compared with."""

    steps: StepTable
    run_ns: float = 0.0

    @property
    def median_step_ns(self) -> float | None:
        """The median of the clean steps, or of all steps if none is clean."""
        durations = [step.duration_ns for step in self.steps.clean or self.steps.steps]
        return statistics.median(durations) if durations else None

    def share(self, traces: Sequence[Trace]) -> float:
        """Time lost in these traces, over the steps' time without warm-up but with what was lost there; 0 to 1."""
        return self._share(traces, sum(lost_ns(trace) for trace in traces))

    def share_with_first_runs(self, traces: Sequence[Trace]) -> float:
        """The same with what else made these steps longer than the others: Grappler, XLA, first runs. An upper bound:
        other things may have happened in them. Not where ``all_trace``: there are no others."""
        by_step: dict[int, float] = {}
        for trace in traces:
            by_step[trace.step] = by_step.get(trace.step, 0.0) + lost_ns(trace)
        steps = {step.number: step for step in self.steps.steps if step.window != "warmup"}
        if not steps:
            return self.share(traces)
        others = [step.duration_ns for step in steps.values() if step.number not in by_step]
        usual = statistics.median(others)
        excess = {
            number: steps[number].end_ns - steps[number].begin_ns - usual * steps[number].count
            for number in by_step
            if number in steps
        }
        return self._share(traces, sum(max(spent, excess.get(number, 0.0)) for number, spent in by_step.items()))

    def all_trace(self, traces: Sequence[Trace]) -> bool:
        """Whether no step, or next to none, shows what one takes in which none of these traces is."""
        numbers = {trace.step for trace in traces}
        steady = [step.number for step in self.steps.steps if step.window != "warmup"]
        others = sum(number not in numbers for number in steady)
        return bool(steady) and (not others or (others < ORDINARY.value and 2 * others <= len(steady)))

    def are_outside(self, traces: Sequence[Trace]) -> bool:
        """Return whether no step paid for these traces: they come before the first step, or each took longer than the
        step in which it is counted, as traces between steps and at the end of an epoch do."""
        taken = {step.number: step.end_ns - step.begin_ns for step in self.steps.steps}
        return all(trace.step == 0 or lost_ns(trace) > taken.get(trace.step, math.inf) for trace in traces)

    def _share(self, traces: Sequence[Trace], lost: float) -> float:
        warmup = {step.number for step in self.steps.in_window("warmup")}
        steady = sum(step.end_ns - step.begin_ns for step in self.steps.steps if step.number not in warmup)
        if steady:
            total: float = steady + sum(lost_ns(trace) for trace in traces if trace.step in warmup or trace.step == 0)
        else:
            total = sum(step.end_ns - step.begin_ns for step in self.steps.steps) or self.run_ns
        return min(shared.MAX_RUN_SHARE.value, lost / total) if total else 0.0
