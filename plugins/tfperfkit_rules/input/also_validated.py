"""The saving of the steps' input remedy in validation, if validation uses the same stage."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator

import msgspec
from tfperfkit_probes.input.model import InputData, Pipeline

from tfperfkit import gain
from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Elsewhere, Finding
from tfperfkit.records.samples import MIN
from tfperfkit.rule import Evidence, Rule
from tfperfkit_rules.measures.called import FIT, is_calling
from tfperfkit_rules.measures.moments import moments


def also_validated(rule: Callable[[Evidence], Iterable[Finding]]) -> Rule:
    """Return the rule, whose findings of the training steps also say what they save in the validation of ``fit``.

    A batch needs the same of the pipeline there, and less computing: without gradients. So of what its compiled calls
    take the same part goes as of the step, at least."""

    @functools.wraps(rule)
    def with_validation(evidence: Evidence) -> Iterator[Finding]:
        for item in rule(evidence):
            yield _also(evidence, item)

    return with_validation


def _also(evidence: Evidence, item: Finding) -> Finding:
    low, high = item.gain.low, item.gain.high
    if evidence.work is not None or item.basis != "step" or low is None or low <= 1 or not _shared(evidence, item):
        return item
    computing, whole = _validation_s(evidence)
    if not computing:
        return item
    most = gain.saving(high) if high is not None else 1.0
    saved = Elsewhere(
        seconds=(computing * gain.saving(low), whole * most), where="validation, whose batches come by the same line"
    )
    return msgspec.structs.replace(item, elsewhere=(*item.elsewhere, saved))


def _shared(evidence: Evidence, item: Finding) -> bool:
    """Whether the validation's pipeline has a stage at a place of the finding, or calls a function there."""
    data = evidence.offer(InputData)
    if data is None or not item.where:
        return False
    where = {(place.file, place.line) for place in item.where}
    return any(where & _places(pipeline) for pipeline in data.pipelines if pipeline.role == "validation")


def _places(pipeline: Pipeline) -> set[tuple[str, int]]:
    stages = [stage for stage in pipeline.stages if not stage.added]
    mapped = {(stage.mapped.file, stage.mapped.line) for stage in stages if stage.mapped is not None}
    return {(stage.file, stage.line) for stage in stages} | mapped


def _validation_s(evidence: Evidence) -> tuple[float, float]:
    """Seconds of the run in the compiled calls of ``fit``'s validation, which wait for its batches, and in all of it
    but tracing: what Python does there is slower where the threads of a pipeline hold the processors."""
    computing = whole = seen = 0
    for _, stack, took in moments(evidence):
        if stack.context != "evaluate" or stack.activity in ("tracing", "waiting") or not stack.frames:
            continue
        if is_calling(evidence, stack.frames[-1], FIT):
            computing += took * (stack.activity in ("graph", "input"))
            whole, seen = whole + took, seen + 1
    return (computing / NS_PER_S, whole / NS_PER_S) if seen >= MIN else (0.0, 0.0)
