"""INP006, INP008, INP009: work that each epoch repeats, stages in the wrong order, and buffers that are too large.

The stages and their order are read from the pipeline. A cache is advised if all results fill at most 30 % of the memory
limit. A buffer's memory is the number of elements that were seen in it, times the size of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfperfkit_probes.input.model import InputData, Pipeline, Stage
from tfperfkit_probes.ops.model import OpsData

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit.offers import MemoryLimit
from tfperfkit.pricing import price
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.remedy import ChangeStage
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.also_validated import also_validated
from tfperfkit_rules.input.sequential_stages import is_cheap
from tfperfkit_rules.measures.epochs import epochs
from tfperfkit_rules.measures.feed import Feed, feed, feeding, name_stage, own_time, place, places, waiting
from tfperfkit_rules.measures.input_bounds import MIN_PART, PER_STEP
from tfperfkit_rules.measures.late_skips import TWO_AN_EPOCH

CACHE_SHARE = Threshold(
    0.3,
    "share",
    "maximum share of the memory limit that a cache may fill",
    Chosen("the model and the rest of the run need the other two thirds"),
)
CACHED_LEFT_MAX = Threshold(
    0.3,
    "share",
    "maximum share of cached stages that remains",
    Measured("0.06 to 0.08; by hand 49 us of 191 us (0.26) for a kept element of 110 KB", MEASURED_ON, 5, "cached"),
)
CACHED_LEFT_LIKELY = Threshold(
    0.07,
    "share",
    "median share of cached stages that remains",
    Measured("see CACHED_LEFT_MAX", MEASURED_ON, 5, "cached"),
)
SHUFFLED_MAX_MS = Threshold(
    0.02,
    "ms",
    "maximum time in which a shuffle draws one element; if it takes longer, its time is that of filling its buffer",
    Chosen("it draws a number and moves a pointer, 1 us; 20 us leaves room for a busy machine"),
)
BUFFER_BYTES = Threshold(
    100_000_000,
    "bytes",
    "minimum size of a shuffle buffer of decoded examples",
    Chosen("a tenth of a small container's 1 GB"),
)
BUFFER_SMALLER = Threshold(
    4.0, "number", "minimum ratio of decoded to encoded size", Chosen("uint8 instead of float32 alone gives 4")
)
BUFFER_SHARE = Threshold(
    0.2, "share", "minimum share of the memory limit in any shuffle buffer", Chosen("a fifth is a large part")
)
BUFFER_GRAVE = Threshold(
    0.5,
    "share",
    "share of the memory limit in a shuffle buffer, for severity high",
    Chosen("a second buffer does not fit"),
)

TITLES = {
    "INP006": "Dataset.map repeats the same work in every epoch",
    "INP008": "tf.data stages are in the wrong order",
    "INP009": "Dataset.shuffle buffer takes too much memory",
}
#: Stages that make elements of elements: of each one, or, the last, of each several.
_MAPS = ("Map", "ParallelMap", "FlatMap")
CACHED_LEFT = (0.0, CACHED_LEFT_MAX.value)


def name_wrong_order(what: str) -> str:
    """Write the title of INP008 with what is wrong in this pipeline."""
    return f"tf.data in wrong order: {what}"


@also_validated
def repeated(evidence: Evidence) -> Iterator[Finding]:
    """INP006: what is the same in each epoch is computed in each; INP008 when a cache() stands before it."""
    item = feed(evidence)
    if item is None or not _epochs(evidence, item.pipeline):
        return
    if item.bound is not None and is_cheap(evidence, item, item.bound):
        return
    last = _cacheable(item.pipeline)
    if last is None:
        return
    stages = item.pipeline.stages
    kept = [stage for stage in stages[last:] if stage.nested is None]
    stage = max((each for each in kept if each.kind in _MAPS), key=lambda each: each.self_ms_per_output or 0.0)
    if is_cheap(evidence, item, stage):
        return  # on whole batches it takes negligible time (INP007)
    part = _part(item, kept)
    needed = _needed(evidence, item.pipeline, stages[last])
    limit = _limit(evidence)
    if part < MIN_PART.value or needed is None or (limit and needed > CACHE_SHARE.value * limit):
        return
    early = next((stage for stage in stages[last + 1 :] if stage.kind == "Cache" and not stage.added), None)
    worked = item.section_ms * part
    rest = item.section_ms - worked
    least, most, likely = (rest + share * worked for share in (*CACHED_LEFT, CACHED_LEFT_LIKELY.value))
    left = item.relieved(least, most, likely)
    rows = (
        *waiting(item, evidence.unit),
        *own_time(stage),
        Measurement("memory for the cache", needed, "bytes", "run"),
    )
    name = name_stage(stage)
    where = places(evidence, place(stages[last], item.pipeline), place(stage, item.pipeline), stage.mapped)
    if early is not None:
        code, title = "INP008", name_wrong_order(f"cache() before {name}, which repeats every epoch")
        where = places(evidence, place(early, item.pipeline), *where)
        between = stages[last + 1 : stages.index(early)]
        ordered = any(each.kind in ("Shuffle", "Repeat") for each in between)
        after = f"Move cache() after {name_stage(stages[last])}: .{_call(stages[last])}.cache()."
        advice = f"{_keep(stages[last], between)} Remove the earlier cache()." if ordered else after
    else:
        code, title = "INP006", f"{name} repeats the same work in every epoch"
        advice = _keep(stages[last], stages[last + 1 :])
    yield Finding(
        code=code,
        remedy=ChangeStage("cache" if early is None else "order"),
        title=title,
        share_of_step=item.share,
        gain=price(ChangeStage("cache"), left=left),
        where=where,
        evidence=rows,
        advice=advice,
        detail=(
            f"Nothing in {name} or before it is random, so its results stay the same. The cache needs the memory given "
            "here; .cache(path) keeps it in a file."
        ),
        absorbs=("INP001", "INP003", "INP004", "INP007", "BAT001"),
    )


def _keep(stage: Stage, before: Sequence[Stage]) -> str:
    """``before``: the stages that its elements come through. Behind a repeat a cache holds each repetition, and
    behind a shuffle one order for all epochs."""
    kept = f".{_call(stage)}.cache()"
    kinds = {each.kind for each in before if not each.added and each.nested is None}
    names = [name for kind, name in (("Shuffle", "shuffle"), ("Repeat", "repeat")) if kind in kinds]
    if not names:
        return f"Cache its results: {kept}, before shuffle and batch."
    why = "after a repeat a cache keeps each repetition" if "repeat" in names else "after a shuffle it keeps one order"
    return f"Cache its results, and move {kept} before {' and '.join(names)}: {why}."


def _call(stage: Stage) -> str:
    function = stage.mapped.function if stage.mapped is not None else "..."
    name = "flat_map" if stage.kind == "FlatMap" else stage.kind.replace("Parallel", "").lower()
    parallel = ", num_parallel_calls=tf.data.AUTOTUNE" if stage.kind.startswith("Parallel") else ""
    return f"{name}({function}{parallel})"


def _epochs(evidence: Evidence, pipeline: Pipeline) -> bool:
    """Whether the data are gone through more than once: several iterators, a repeat, or several calls of the compiled
    function that loops over them."""
    repeats = any(stage.kind == "Repeat" and stage.parameters.get("count") != 1 for stage in pipeline.stages)
    many = pipeline.iterators >= 2 and (pipeline.iterators_per_step or 0.0) < PER_STEP.value
    if repeats or many or not pipeline.in_graph:
        return repeats or many
    return pipeline.datasets_made == 1 and _count_calls(evidence, pipeline.in_graph) >= 2


def _cacheable(pipeline: Pipeline) -> int | None:
    """Return the last map (nearest the end) below which nothing is random, after which no cache keeps its results. A
    ``flat_map`` over what a map makes counts as one, if nothing in its own datasets is random."""
    found: int | None = None
    for index in reversed(range(len(pipeline.stages))):
        stage = pipeline.stages[index]
        if stage.added or stage.nested is not None:
            continue
        inner = [each for each in pipeline.stages if each.nested == index]
        if any(each.is_python or each.stateful_or_random or each.kind == "Random" for each in inner):
            break
        if stage.is_python or (stage.stateful_or_random and stage.kind != "Shuffle") or stage.kind == "Random":
            break
        if stage.kind in _MAPS[:2] or (stage.kind in _MAPS and found is not None):
            found = index
        if stage.kind == "Cache":
            found = None
    return found


def _part(item: Feed, kept: list[Stage]) -> float:
    """Return what the stages have of the slowest section.

    If the wait is for buffers that fill at the beginning of an epoch, the section is the stages that fill them; its
    model is often gone by then: 1.
    """
    timed = [stage for stage in kept if stage.self_ms_per_output is not None]
    if item.bound is not None and _only_fills(item.bound, item.pipeline, kept):
        return min(sum(item.part(stage) for stage in (*timed, item.bound)), 1.0)
    if item.bound is None or item.bound not in kept:
        return 1.0 if item.filling and not timed else 0.0
    return min(sum(item.part(stage) for stage in timed), 1.0)


def _only_fills(bound: Stage, pipeline: Pipeline, kept: Sequence[Stage]) -> bool:
    """Whether the slowest stage is a shuffle directly after these stages, whose time is that of filling its buffer."""
    stages = [stage for stage in pipeline.stages if not stage.added and stage.nested is None]
    if bound.kind != "Shuffle" or bound not in stages or stages[stages.index(bound) + 1] is not kept[0]:
        return False
    each_ms = (bound.self_ms_per_output or 0.0) / max(bound.elements or 0.0, 1.0)
    return each_ms > SHUFFLED_MAX_MS.value


def _needed(evidence: Evidence, pipeline: Pipeline, stage: Stage) -> float | None:
    """Bytes of all elements that the stage gives in an epoch, an upper bound (with an endless repeat: of all that the
    run consumed). None when element sizes are open."""
    size = stage.bytes_per_element
    if size is None or not evidence.steps.count:
        return None
    full = [other.buffered_mean for other in pipeline.stages if other.kind == "Shuffle" and other.buffered_mean]
    return size * max([count_elements(evidence, pipeline, stage), *full])


def count_elements(evidence: Evidence, pipeline: Pipeline, stage: Stage) -> float:
    """Count the elements that an epoch takes from a stage, at most."""
    batch = 1
    for other in pipeline.stages[: pipeline.stages.index(stage)]:
        given = other.parameters.get("batch_size")
        if other.kind in ("Batch", "PaddedBatch") and isinstance(given, int):
            batch = batch * given
    steps = float(evidence.steps.count)
    found = epochs(evidence)
    if found is not None:
        steps = found.length
    elif pipeline.iterators >= 2:  # Keras makes up to two for an epoch
        steps = steps / pipeline.iterators * (TWO_AN_EPOCH.value if pipeline.way else 1.0)
    return steps * (pipeline.outputs_per_step or 1.0) * batch


def _limit(evidence: Evidence) -> float:
    """Return the memory limit in bytes; 0 when it is not known."""
    limit = evidence.offer(MemoryLimit)
    return float(limit.limit_bytes) if limit is not None else 0.0


@also_validated
def order(evidence: Evidence) -> Iterator[Finding]:
    """INP008: stages of the training pipeline in an order that changes what they do. Only remarks: what costs time is
    reported by ``repeated`` and ``late_prefetch``, with its price."""
    data = evidence.offer(InputData)
    if data is None:
        return
    for pipeline in feeding(evidence, data):
        own = [stage for stage in reversed(pipeline.stages) if _stands_in_line(stage)]
        for first, second, title, advice in _wrong(own):
            yield Finding(
                code="INP008",
                remedy=ChangeStage("order"),
                severity="info",
                title=title,
                share_of_step=0.0,
                where=places(evidence, place(second, pipeline), place(first, pipeline)),
                evidence=(Measurement("pipeline stages", len(own), "count", "run"),),
                advice=advice,
            )


def _stands_in_line(stage: Stage) -> bool:
    """Return a stage of the user's own; not one within another's function (``window(...).flat_map(lambda w:
    w.batch(n))``): that one makes an element, and says nothing of the order of elements."""
    return not stage.added and stage.by == "user" and stage.nested is None


def _wrong(own: list[Stage]) -> Iterator[tuple[Stage, Stage, str, str]]:
    """(earlier stage, later stage, what is wrong, advice), from the source to the end."""
    kinds = [stage.kind for stage in own]
    shuffle = own[kinds.index("Shuffle")] if "Shuffle" in kinds else None
    for index, stage in enumerate(own):
        before = own[:index]
        batch = next((other for other in before if other.kind in ("Batch", "PaddedBatch")), None)
        random = next((o for o in before if o.stateful_or_random and o.kind in ("Map", "ParallelMap")), None)
        repeat = next((other for other in before if other.kind == "Repeat"), None)
        if stage.kind == "Shuffle" and batch is not None and kinds.count("Shuffle") == 1:
            yield (
                batch,
                stage,
                name_wrong_order("shuffle() after batch() shuffles batches, not examples"),
                ("Shuffle first: .shuffle(n).batch(b)."),
            )
        if stage.kind == "Cache" and random is not None:
            yield (
                random,
                stage,
                name_wrong_order(f"cache() after {name_stage(random)} repeats its random results in every epoch"),
                ("Put cache() before the random map."),
            )
        elif stage.kind == "Cache" and shuffle is not None and shuffle in before and kinds.count("Shuffle") == 1:
            yield (
                shuffle,
                stage,
                name_wrong_order("cache() after shuffle() keeps one order for all epochs"),
                ("Put cache() before shuffle()."),
            )
        if stage.kind == "Cache" and repeat is not None and repeat.parameters.get("count") in (None, -1):
            yield (
                repeat,
                stage,
                name_wrong_order("cache() after an endless repeat() grows without end"),
                ("Put cache() before repeat()."),
            )


def late_prefetch(evidence: Evidence) -> Iterator[Finding]:
    """INP008: prefetch() is followed by the work that the step waits for."""
    unit = evidence.unit
    item = feed(evidence)
    if item is None or item.overlaps or item.bound is None:
        return
    late = next((stage for stage in item.pipeline.stages if stage.kind == "Prefetch" and not stage.added), None)
    if late is None:
        return
    yield Finding(
        code="INP008",
        remedy=ChangeStage("order"),
        title=name_wrong_order(f"{name_stage(item.bound)} after prefetch() runs only when {unit.the} asks"),
        share_of_step=item.share,
        gain=price(ChangeStage("order"), left=item.after(item.wait_ms, item.wait_ms)),
        where=places(evidence, place(late, item.pipeline), place(item.bound, item.pipeline)),
        evidence=(*waiting(item, evidence.unit), *own_time(item.bound)),
        advice="Move prefetch(tf.data.AUTOTUNE) to the end of the pipeline.",
        absorbs=("INP001", "INP004"),
    )


def large_buffer(evidence: Evidence) -> Iterator[Finding]:
    """INP009: a shuffle buffer takes much memory and is filled before the first step of each epoch."""
    data, limit = evidence.offer(InputData), _limit(evidence)
    for pipeline in data.pipelines if data is not None else ():
        for index, stage in enumerate(pipeline.stages):
            if stage.kind != "Shuffle" or stage.added:
                continue
            held = count_held(evidence, pipeline, stage)
            size = _element_bytes(pipeline, index)
            given = stage.parameters.get("buffer_size")
            if held is None or size is None or not isinstance(given, int):
                continue
            needed, expanded = held * size, _expanded(pipeline, index)
            grave = limit > 0 and needed > BUFFER_SHARE.value * limit
            if not grave and not (needed >= BUFFER_BYTES.value and expanded is not None):
                continue
            share = needed / limit if limit else 0.0
            severity: Severity = "high" if share >= BUFFER_GRAVE.value else "medium" if grave else "low"
            cause = SourceSpan(expanded.file, expanded.line, expanded.function) if expanded is not None else None
            yield Finding(
                code="INP009",
                remedy=ChangeStage("shuffle_less"),
                severity=severity,
                basis="risk",
                title=f"shuffle({given}) buffer takes too much memory"
                + (", as it holds decoded examples" if expanded is not None else ""),
                share_of_step=0.0,
                where=places(evidence, place(stage, pipeline), cause),
                evidence=(
                    Measurement("memory of the shuffle buffer", needed, "bytes", "run"),
                    Measurement("elements in the shuffle buffer", held, "count", "run"),
                    Measurement("size of an element", size, "bytes", "run"),
                    *([Measurement("share of the memory limit in the buffer", share, "share", "run")] if limit else []),
                ),
                advice=(
                    f"Shuffle before {name_stage(expanded)}, while elements are small: .shuffle({given})."
                    f"{_call(expanded)}."
                    if expanded is not None
                    else f"Use a smaller buffer than {given}. Or: shuffle file names or indices, and load after that."
                ),
                detail="The buffer is filled before each epoch begins.",
            )


def count_held(evidence: Evidence, pipeline: Pipeline, stage: Stage) -> float | None:
    """Count the elements of the full buffer of a shuffle: no more than an epoch has. None if it was never seen at
    work."""
    given = stage.parameters.get("buffer_size")
    if not stage.buffered_mean or not isinstance(given, int):
        return None
    if pipeline.way and epochs(evidence) is None:
        return min(stage.buffered_mean, given)
    return min(max(stage.buffered_mean, count_elements(evidence, pipeline, stage)), given)


def _element_bytes(pipeline: Pipeline, index: int) -> int | None:
    return next((item.bytes_per_element for item in pipeline.stages[index:] if item.bytes_per_element), None)


def _expanded(pipeline: Pipeline, index: int) -> Stage | None:
    """Return the map right below the shuffle that makes small elements large; None when what it gets is as large."""
    stage = pipeline.stages[index + 1] if index + 1 < len(pipeline.stages) else None
    if stage is None or stage.kind not in ("Map", "ParallelMap") or not stage.bytes_per_element:
        return None
    source = pipeline.stages[index + 2 :]
    small = next((item.bytes_per_element for item in source if not item.added), None)
    if small is not None and stage.bytes_per_element < BUFFER_SMALLER.value * small:
        return None
    return stage


def _count_calls(evidence: Evidence, function: str) -> int:
    """Count the calls of a compiled function that loops over a dataset, by the lines that had it traced: each call goes
    through the data again."""
    data = evidence.offer(OpsData)
    traced = [each for each in (data.all if data is not None else ()) if each.function == function]
    lines = {(span.file, span.line) for each in traced for span in each.callers}
    kinds = ("function", "loop_call")
    here = {site.id for site in evidence.sites() if site.kind in kinds and (site.file, site.line) in lines}
    return sum(marker.site in here for marker in evidence.markers())
