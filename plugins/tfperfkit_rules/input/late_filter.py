"""INP008: a filter comes after a costly map, and reads only values that the map passes on unchanged.

The gain is the map's time for the elements that the filter drops.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.input.model import Pipeline, Stage

from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import price
from tfperfkit.remedy import ChangeStage
from tfperfkit.rule import Evidence
from tfperfkit.syntax.function import Function
from tfperfkit_rules.input.also_validated import also_validated
from tfperfkit_rules.input.stage_order import name_wrong_order
from tfperfkit_rules.measures.feed import feed, name_stage, own_time, place, places, waiting
from tfperfkit_rules.measures.input_bounds import MIN_PART


@also_validated
def filtered_late(evidence: Evidence) -> Iterator[Finding]:
    """Yield the finding, where the map sets the pace and a good part of what it makes is dropped."""
    item = feed(evidence)
    stage = item.bound if item is not None else None
    if item is None or stage is None or stage.kind not in ("Map", "ParallelMap"):
        return
    late = _find_filter_after(item.pipeline, stage)
    if late is None or not late.elements or not stage.elements or not _reads_unchanged_values(evidence, late, stage):
        return
    dropped = 1 - late.elements / stage.elements
    saved = item.section_ms * item.part(stage) * dropped
    if saved < MIN_PART.value * item.section_ms:
        return
    left_ms = item.section_ms - saved
    yield Finding(
        code="INP008",
        remedy=ChangeStage("order"),
        title=name_wrong_order(f"filter() after {name_stage(stage)} drops {100 * dropped:.0f} % of its results"),
        share_of_step=item.share,
        gain=price(ChangeStage("order"), left=item.relieved(left_ms, left_ms)),
        where=places(evidence, place(late, item.pipeline), place(stage, item.pipeline), stage.mapped),
        evidence=(
            *waiting(item, evidence.unit),
            *own_time(stage),
            Measurement("examples into the filter per batch", stage.elements, "number", "run"),
            Measurement("examples out of the filter per batch", late.elements, "number", "run"),
        ),
        advice=f"Filter before the map: .filter(...).{_write_map(stage)}. "
        "The filter's function then takes the map's arguments.",
        detail="The filter reads only values that the map passes on unchanged.",
        absorbs=("INP001", "INP003", "INP004", "BAT001"),
    )


def _write_map(stage: Stage) -> str:
    function = stage.mapped.function if stage.mapped is not None else "..."
    parallel = ", num_parallel_calls=tf.data.AUTOTUNE" if stage.kind.startswith("Parallel") else ""
    return f"map({function}{parallel})"


def _find_filter_after(pipeline: Pipeline, stage: Stage) -> Stage | None:
    """Find the filter that takes what the map makes, with nothing between them but a prefetch or a shuffle."""
    for other in reversed(pipeline.stages[: pipeline.stages.index(stage)]):
        if other.kind == "Filter" and other.by == "user" and other.nested is None:
            return other
        if other.kind not in ("Prefetch", "Shuffle") and not other.added:
            return None
    return None


def _reads_unchanged_values(evidence: Evidence, late: Stage, stage: Stage) -> bool:
    """Whether the filter's function reads only values that the map's function returns as it got them."""
    asks, makes = _find_function(evidence, late.mapped), _find_function(evidence, stage.mapped)
    if asks is None or makes is None:
        return False
    used = asks.read_names
    places = {number for number, name in enumerate(asks.parameters) if name in used}
    return bool(places) and not asks.takes_any_number and places <= _find_passed_on(makes)


def _find_passed_on(function: Function) -> set[int]:
    """Find the positions in what a function returns that hold the parameter of the same position, unchanged."""
    if function.has_functions:
        return set()
    kept = [name if name not in function.bound_names else "" for name in function.parameters]
    found = [
        {number for number, (part, name) in enumerate(zip(value.items, kept, strict=False)) if part.text == name}
        for value in function.returned
        if value is not None and value.kind == "tuple"
    ]
    return set.intersection(*found) if found and len(found) == len(function.returned) else set()


def _find_function(evidence: Evidence, span: SourceSpan | None) -> Function | None:
    """Find the function of a stage, if it is the only one that begins on its line."""
    syntax = evidence.syntax(span.file) if span is not None else None
    if syntax is None or span is None:
        return None
    found = [item for item in (*syntax.functions, *syntax.lambdas) if item.line == span.line]
    return found[0] if len(found) == 1 else None
