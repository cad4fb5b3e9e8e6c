"""The times and the account of the clean steps, or of the iterations of a work."""

from __future__ import annotations

import msgspec

from tfperfkit import calibration
from tfperfkit.analysis.gather import lost_samples
from tfperfkit.analysis.step_table import Weighted, one_call_note
from tfperfkit.analysis.training_hints import describe_missing_steps
from tfperfkit.clock import MS_PER_S, ms
from tfperfkit.model import (
    StepSummary,
    Work,
)
from tfperfkit.offers import InputBatch, StepBreakdown
from tfperfkit.records.parts import TRACED
from tfperfkit.records.steps import IN_ONE_CALL, StepTable
from tfperfkit.rule import Evidence

_NOT_CLEAN = "no step ran clean of invasive probes: the times are of all steps but the first two"


def of_work(evidence: Evidence) -> Work:
    """Return a work with the times and the account of its iterations."""
    made = evidence.work
    assert made is not None
    steps = summarize(evidence.steps, evidence)
    if not _explains(made, steps):
        steps = msgspec.structs.replace(steps, breakdown_ms=None, breakdown_window="")
    return msgspec.structs.replace(made, steps=steps)


def _explains(work: Work, steps: StepSummary) -> bool:
    """Return whether the parts of the iterations say where the time of the work went."""
    parts = steps.breakdown_ms or {}
    told_s = (work.iterations or 1) * (steps.mean_ms or 0.0) / MS_PER_S
    unknown = parts.get("other", 0.0) > calibration.MAX_OTHER_SHOWN.value * sum(parts.values())
    return not unknown and told_s >= calibration.MIN_REPORTED_SPAN.value * work.seconds


def summarize(table: StepTable, evidence: Evidence) -> StepSummary:
    clean = table.clean
    note = table.note
    if not clean and table.count:
        clean = table.steps[2:] or table.steps
    alone = len(clean) == 1 and clean[0].count >= IN_ONE_CALL
    if alone:
        note = note or one_call_note(table.steps, table.count)
    elif table.count and not table.clean:
        note = note or _NOT_CLEAN
    whole = sum(step.end_ns - step.begin_ns for step in clean)
    one = sum(step.count for step in clean) == 1  # in one stretch or several
    durations = Weighted([(whole, 1)] if one else ((step.duration_ns, step.count) for step in clean))
    if not durations.count:
        note = describe_missing_steps(evidence, note) if evidence.work is None else note
        return StepSummary(count=table.count, source=table.source, definition=table.definition, note=note)
    parts, window = _breakdown(evidence)
    median = durations.median
    between_ms = evidence.account.between_total_ms if evidence.account is not None else 0.0
    turn_s = durations.mean / 1e9 + between_ms / 1e3  # the rate counts all iterations, also the few that wait for data
    batch = evidence.offer(InputBatch) if not table.batch_size and evidence.work is None else None
    examples = batch.examples if batch is not None else table.batch_size
    return StepSummary(
        count=table.count,
        source=table.source,
        warmup=sum(step.count for step in table.in_window("warmup")),
        clean=durations.count if table.clean else 0,
        median_ms=ms(median),
        mean_ms=ms(durations.mean),
        p90_ms=None if alone else ms(durations.at(0.9)),
        examples_per_s=examples / turn_s if examples and turn_s else None,
        batch_size=examples or None,
        breakdown_ms=parts,
        breakdown_window=window,
        definition=table.definition,
        note=note,
        account=evidence.account,
        warm_up=evidence.warm_up,
    )


def _breakdown(evidence: Evidence) -> tuple[dict[str, float] | None, str]:
    """Return the parts of the mean clean step, those that a trace tells and others that took time; without clean steps
    those of the traced step; and where they come from."""
    made = evidence.account
    if made is not None and made.parts_ms:
        parts: dict[str, float] = {name: value for name, value in made.parts_ms.items() if value or name in TRACED}
        return parts, " and ".join(made.windows)
    if lost_samples(evidence.records("events")):
        return None, ""
    traced = evidence.offer(StepBreakdown)
    return (dict(traced.parts_ms), evidence.offered_by(StepBreakdown)) if traced and traced.parts_ms else (None, "")
