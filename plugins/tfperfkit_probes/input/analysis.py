"""Make ``InputData`` from the records, and what the probe offers to other readers of a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from tfperfkit.clock import ms
from tfperfkit.offers import InputBatch, InputPace, Pipelines
from tfperfkit.probe import Capture
from tfperfkit.records.convert import each, read
from tfperfkit.records.pipelines import Answer, KerasData, MadeDataset, MadeIterator, RanOut
from tfperfkit.records.samples import read_samples
from tfperfkit.records.steps import Marker, Site
from tfperfkit_probes.input.answers import asked_again, passed_twice
from tfperfkit_probes.input.loaders import constant_functions, loaders, typical_step_ms
from tfperfkit_probes.input.model import InputData, KerasInput, Pipeline, ShortData
from tfperfkit_probes.input.nodes import Measurement, measure
from tfperfkit_probes.input.pipelines import divided, likeness, make, random_order, span
from tfperfkit_probes.input.streams import (
    ANSWERS,
    COUNTS,
    DATASETS,
    ITERATORS,
    KERAS,
    RAN_OUT,
    READINGS,
    RETURNED,
    Reading,
    Watched,
)
from tfperfkit_probes.input.structure import Built, build
from tfperfkit_probes.input.trace import TracedPipeline, read_trace

#: An iterator that gives less than this per step does not feed the steps.
_FEEDS = 0.5
#: Stages of a trace must fit at least so well to be taken for a pipeline's.
_ALIKE = 0.6


def analyse(capture: Capture) -> InputData:
    """Everything that was recorded, put together."""
    datasets = read(capture, DATASETS, MadeDataset)
    iterators = [made for made, _ in read(capture, ITERATORS, tuple[MadeIterator, int])]
    readings, watched = read(capture, READINGS, Reading), read(capture, RETURNED, Watched)
    given = read(capture, KERAS, KerasData)
    counts = next(iter(read(capture, COUNTS, dict[str, object])), {})
    samples, step_ms = read_samples(capture), typical_step_ms(capture)
    built = build(datasets, iterators)
    validation = {data.dataset for data in given if data.validation and data.dataset}
    measured = [measure(_select_readings(item, readings)) for item in built]
    roles = _roles(built, measured, validation, given)
    traced = _matched(built, measured, roles, read_trace(capture.trace_dir))
    traced_steps = sum(step.count for step in capture.steps.in_window("tfprof"))
    pipelines = [
        make(item, numbers, trace, traced_steps, role, capture.steps.count)
        for item, numbers, trace, role in zip(built, measured, traced, roles, strict=True)
    ]
    pipelines = _fetches(capture, pipelines)
    pipelines, keras = _keras(given, built, pipelines)
    order = sorted(range(len(pipelines)), key=lambda index: not pipelines[index].in_training)
    keras = tuple(
        msgspec.structs.replace(row, pipeline=order.index(row.pipeline)) if row.pipeline is not None else row
        for row in keras
    )
    answers = read(capture, ANSWERS, Answer)
    sites = list(each(capture.session_records("sites"), Site)) if answers else []
    markers = list(each(capture.session_records("markers"), Marker)) if answers else []
    own = counts.get("own_ns")
    made = counts.get("datasets")
    return InputData(
        pipelines=tuple(pipelines[index] for index in order),
        loaders=loaders(
            capture.steps,
            capture.session_records("opens"),
            each(capture.session_records("sites"), Site),
            samples,
            step_ms,
        ),
        keras=keras,
        ran_out=_ran_out(read(capture, RAN_OUT, RanOut)),
        asked_again=asked_again(answers, sites, markers),
        passed_twice=passed_twice(answers, sites, markers),
        constant_functions=constant_functions(watched, samples),
        steps=capture.steps.count,
        step_ms=step_ms,
        watched=tuple(row.step for row in watched),
        datasets={name: n for name, n in made.items() if isinstance(n, int)} if isinstance(made, dict) else {},
        divided=divided(datasets),
        random_order=random_order(datasets),
        recording_ms=ms((own if isinstance(own, int) else 0) + sum(row.own_ns for row in readings)),
        notes=_notes(pipelines, watched),
    )


def _select_readings(built: Built, readings: Sequence[Reading]) -> list[Reading]:
    numbers = {iterator.number for iterator in built.iterators}
    return [reading for reading in readings if reading.iterator in numbers]


def _roles(
    built: Sequence[Built], measured: Sequence[Measurement | None], validation: set[int], given: Sequence[KerasData]
) -> list[str]:
    """Find the role of each pipeline. In Keras the method tells; in a loop of the user's, whether elements go with
    steps; of one that is iterated in a compiled function only that it is the only one."""
    found = []
    lines = {(data.file, data.line) for data in given if data.validation and not data.dataset}
    for item, numbers in zip(built, measured, strict=True):
        ways = {iterator.origin.way for iterator in item.iterators}
        links = [link.dataset for link in item.links]
        if item.roots & validation or any(link.number in validation for link in links):
            found.append("validation")
        elif "fit" in ways or "train_on_batch" in ways:  # even if the model is evaluated on the same later
            found.append("training")
        elif "evaluate" in ways:
            found.append("validation")
        elif ways & {"predict", "test_on_batch"}:
            found.append("other")
        elif numbers is not None and numbers.steps:
            found.append("training" if numbers.step_outputs >= _FEEDS * numbers.steps else "other")
        else:
            found.append("unknown")
    # Arrays and PyDatasets for validation are made into datasets at the line of the same ``fit``, after the others.
    for file, line in lines:
        ends = [item.links[0].dataset.origin for item in built]
        mine = [
            i
            for i, end in enumerate(ends)
            if (end.file, end.line, end.by) == (file, line, "keras") and found[i] == "training"
        ]
        if len(mine) > 1:
            found[mine[-1]] = "validation"
    if len(found) == 1 and found[0] == "unknown":
        found[0] = "training"
    elif "training" not in found:
        inside = [i for i, item in enumerate(built) if item.in_graph and found[i] == "unknown"]
        if len(inside) == 1:
            found[inside[0]] = "training"
    return found


def _matched(
    built: Sequence[Built],
    measured: Sequence[Measurement | None],
    roles: Sequence[str],
    traced: Sequence[TracedPipeline],
) -> list[TracedPipeline | None]:
    """Each traced pipeline to the built one that it fits best; those that feed the steps come first."""
    found: list[TracedPipeline | None] = [None] * len(built)
    scores = sorted(
        (
            (likeness(item, numbers, trace), role == "training", -i, j)
            for i, (item, numbers, role) in enumerate(zip(built, measured, roles, strict=True))
            for j, trace in enumerate(traced)
        ),
        reverse=True,
    )
    taken: set[int] = set()
    for score, _, minus, j in scores:
        if score >= _ALIKE and found[-minus] is None and j not in taken:
            found[-minus] = traced[j]
            taken.add(j)
    return found


def _fetches(capture: Capture, pipelines: list[Pipeline]) -> list[Pipeline]:
    """How long the steps wait for their batches, where Python itself fetches them: over all clean steps."""
    clean = capture.steps.clean
    count = sum(step.count for step in clean)
    mine = [i for i, item in enumerate(pipelines) if item.in_training and not item.way and not item.in_graph]
    if not count or not mine:
        return pipelines
    found = list(pipelines)
    for index, spent in _by_site(capture, pipelines, mine).items():
        if spent and index in mine:
            found[index] = msgspec.structs.replace(
                found[index], fetch_ms_per_step=ms(spent) / count, fetch_window="baseline"
            )
    return found


def _by_site(capture: Capture, pipelines: Sequence[Pipeline], mine: Sequence[int]) -> dict[int, int]:
    """Group by the line that fetches, if that line also made the iterator. A fetch elsewhere (``next(it)``) is of
    the pipeline that feeds the steps, if there is one only."""
    lines = {(item.file, item.line): i for i, item in enumerate(pipelines)}
    only = mine[0] if len(mine) == 1 else None
    sites = {}
    for site in each(capture.session_records("sites"), Site):
        index = lines.get((site.file, site.line), only)
        if site.kind == "next" and index is not None:
            sites[site.id] = index
    clean = capture.steps.clean
    spans = iter(clean)
    span_now = next(spans, None)
    times: dict[int, int] = {}
    for marker in each(capture.session_records("markers"), Marker):
        if marker.site not in sites:
            continue
        while span_now is not None and span_now.end_ns < marker.begin_ns:
            span_now = next(spans, None)
        if span_now is None:
            break
        if span_now.begin_ns <= marker.begin_ns:
            index = sites[marker.site]
            times[index] = times.get(index, 0) + marker.end_ns - marker.begin_ns
    return times


def _keras(
    given: Sequence[KerasData], built: Sequence[Built], pipelines: list[Pipeline]
) -> tuple[list[Pipeline], tuple[KerasInput, ...]]:
    """One row for each line and kind; the user's function becomes that of the generator stage which calls it."""
    rows: dict[tuple[object, ...], KerasInput] = {}
    found = list(pipelines)
    for data in given:
        key = (data.kind, data.validation, data.way, data.file, data.line, data.cls, data.workers)
        known = rows.get(key)
        if known is not None:
            rows[key] = msgspec.structs.replace(known, times=known.times + 1)
            continue
        index = _pipeline_of(data, built, found)
        item_ms = None
        if index is not None and data.place is not None:
            stages = list(found[index].stages)
            for number, stage in enumerate(stages):
                if stage.kind == "Generator":
                    stages[number] = msgspec.structs.replace(stage, mapped=span(data.place))
                    item_ms = stage.self_ms_per_output
            found[index] = msgspec.structs.replace(found[index], stages=tuple(stages))
        rows[key] = KerasInput(
            kind=data.kind,
            way=data.way,
            validation=data.validation,
            file=data.file,
            line=data.line,
            function=data.function,
            cls=data.cls,
            place=span(data.place),
            workers=data.workers,
            use_multiprocessing=data.use_multiprocessing,
            max_queue_size=data.max_queue_size,
            batch_size=data.batch_size,
            batches=data.batches,
            shuffle=data.shuffle,
            arrays_bytes=data.arrays_bytes,
            padding=data.padding,
            steps=data.steps,
            pipeline=index,
            item_ms=item_ms,
        )
    return found, tuple(rows.values())


def _ran_out(found: Sequence[RanOut]) -> tuple[ShortData, ...]:
    times = Counter(msgspec.structs.replace(row, had=0) for row in found)
    had = {msgspec.structs.replace(row, had=0): row.had for row in reversed(found)}
    return tuple(ShortData(**{**msgspec.structs.asdict(row), "had": had[row]}, times=n) for row, n in times.items())


def _pipeline_of(data: KerasData, built: Sequence[Built], pipelines: Sequence[Pipeline]) -> int | None:
    for index, item in enumerate(built):
        if data.dataset and (data.dataset in item.roots or any(data.dataset == x.dataset.number for x in item.links)):
            return index
        end = item.links[0].dataset
        if data.dataset or (end.origin.file, end.origin.line, end.origin.by) != (data.file, data.line, "keras"):
            continue
        if (pipelines[index].role == "validation") == data.validation and end.ns >= data.ns:
            return index
    return None


def _notes(pipelines: Sequence[Pipeline], watched: Sequence[Watched]) -> tuple[str, ...]:
    notes = []
    blind = [item for item in pipelines if item.in_graph and not item.measured]
    if blind:
        names = ", ".join(dict.fromkeys(item.in_graph for item in blind))
        notes.append(f"the datasets that {names} loops over can only be measured by a trace: add the probe tfprof")
    later = [row.step for row in watched[1:]]
    if later:
        notes.append(
            f"returned values were watched in step{'s' * (len(later) > 1)} {', '.join(map(str, later))}: "
            "Python took longer there"
        )
    return tuple(notes)


#: The shape of each part of an element in ``float32[64,128], int32[64]``.
_SHAPE = re.compile(r"\w+\[([^\]]*)\]")
#: The counted batches of a step may differ from one by a batch that was made ahead.
_ONE = 0.1


def offers(data: InputData) -> tuple[InputPace | InputBatch | Pipelines, ...]:
    """Offer the pace of the slowest pipeline that feeds the steps, if it was measured, how many examples a batch has,
    and all pipelines."""
    paces = [
        each.bound_ms_per_output * each.outputs_per_step
        for each in data.pipelines
        if each.in_training and each.bound_ms_per_output and each.outputs_per_step
    ]
    found: list[InputPace | InputBatch | Pipelines] = [InputPace(ms_per_step=max(paces))] if paces else []
    examples = _examples(data)
    there = Pipelines(
        iterated=any(not each.in_graph for each in data.pipelines),
        feeds_steps=any(each.in_training for each in data.pipelines),
    )
    return (*found, *([InputBatch(examples=examples)] if examples else []), *([there] if data.pipelines else []))


def _examples(data: InputData) -> int:
    """The examples in a batch if there is one pipeline and one device, else 0: a strategy passes batches on."""
    feeding = [each for each in data.pipelines if each.in_training]
    if len(feeding) != 1 or feeding[0].iterators != 1 or not feeding[0].stages:
        return 0
    (only,) = feeding
    taken = any(stage.kind == "Generator" and stage.added for stage in only.stages)
    if not taken or only.outputs_per_step is None or abs(only.outputs_per_step - 1) > _ONE:
        return 0
    first = {shape.partition(",")[0].strip() for shape in _SHAPE.findall(only.stages[0].element)}
    size = next(iter(first), "")
    return int(size) if len(first) == 1 and size.isdecimal() and len(size) < 10 else 0
