"""Input pipelines as they flow, from the source to the step."""

from __future__ import annotations

from typing import Any

import msgspec

from tfperfkit.picture import Flow, Picture
from tfperfkit.picture import Stage as Box
from tfperfkit_probes.input.model import InputData, Pipeline, Stage

_PIPELINES, _STAGES = 4, 40
_ROLES = {"training": "feeds the steps", "validation": "validation", "other": "not the steps' own"}
#: Over which steps a wait was measured.
_SEEN = {"baseline": " (all clean steps)", "trace": " (in the traced steps)"}


def pictures(data: Any) -> list[Picture]:
    """The pipelines of the steps first."""
    found = msgspec.convert(data, InputData, strict=False)
    items = sorted((item for item in found.pipelines if item.stages), key=lambda item: not item.in_training)
    return [_flow(item, number) for number, item in enumerate(items[:_PIPELINES], 1)]


def _flow(item: Pipeline, number: int) -> Flow:
    per_step = any(stage.self_ms_per_step is not None for stage in item.stages)
    place = f" at {item.file.rpartition('/')[2]}:{item.line}" if item.file else ""
    role = _ROLES.get(item.role, "")
    end = "the step"
    if item.fetch_ms_per_step is not None:
        end += f", which waits {item.fetch_ms_per_step:,.3g} ms for it{_SEEN.get(item.fetch_window, '')}"
    unit = "step" if per_step else "batch"
    if item.measured:
        note = f"Times are a stage's own, all threads together, for one {unit}."
    else:
        note = "The times of its stages were not measured."
    return Flow(
        key=f"pipeline-{number}",
        title=f"Input pipeline{place}{f': {role}' if role else ''}",
        stages=tuple(_box(item, index, per_step) for index in reversed(range(len(item.stages[:_STAGES])))),
        end=end if item.in_training else "",
        note=note,
    )


def _box(item: Pipeline, index: int, per_step: bool) -> Box:
    from tfperfkit.records.source_span import SourceSpan

    stage = item.stages[index]
    return Box(
        name=("inside of a stage: " if stage.nested is not None else "") + stage.kind,
        ms=stage.self_ms_per_step if per_step else stage.self_ms_per_output,
        share=stage.share,
        where=SourceSpan(stage.file, stage.line, stage.function) if stage.file else None,
        marked=item.bound_by == index,
        facts=tuple(_facts(stage)),
    )


def _facts(stage: Stage) -> list[tuple[str, str]]:
    facts = []
    if stage.mapped is not None:
        file = "" if stage.mapped.file == stage.file else f"{stage.mapped.file.rpartition('/')[2]}:"
        line = f"{file}{stage.mapped.line}" if file else f"line {stage.mapped.line}"
        facts.append(("runs", f"{stage.mapped.function or 'function'} at {line}"))
    if (stage.parallelism or 1) > 1:
        facts.append(("in parallel", f"{stage.parallelism:,.0f}{' (chosen by TensorFlow)' if stage.autotuned else ''}"))
    elif stage.parallelism is not None and "Map" in stage.kind:
        facts.append(("in parallel", "1"))
    if stage.buffer:
        facts.append(("buffer", f"{stage.buffer:,.0f}"))
    if stage.is_python:
        facts.append(("in", "Python, under its lock"))
    if stage.element:
        facts.append(("gives", stage.element))
    if stage.added:
        facts.append(("added by", "TensorFlow"))
    if stage.fused:
        facts.append(("runs with", "the next stage"))
    return facts
