"""A pipeline for the report: its stages with their measurements, and how a strategy divides it among workers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tfperfkit.clock import MS_PER_S
from tfperfkit.model import SourceSpan
from tfperfkit.records.pipelines import MadeDataset, Place
from tfperfkit_probes.input.bound import PARALLEL, bound
from tfperfkit_probes.input.model import Divided, Pipeline, Stage
from tfperfkit_probes.input.nodes import FUSED, Measured, Measurement, align, family, kind_of
from tfperfkit_probes.input.structure import Built, chain
from tfperfkit_probes.input.trace import TracedPipeline

_NS_PER_MS = 1e6


def make(
    built: Built,
    measurement: Measurement | None,
    traced: TracedPipeline | None,
    traced_steps: int,
    role: str,
    steps: int,
) -> Pipeline:
    """Put together what was built and what was measured. ``steps``: of the whole run."""
    rate = measurement.step_outputs / measurement.steps if measurement and measurement.steps else None
    measured = "model" if measurement else "trace" if traced else ""
    running = measurement.stages if measurement else _from_trace(traced) if traced else ()
    if rate is None and not measurement and traced and traced_steps:
        rate = traced.fetches / traced_steps
    stages, names = _stages(built, running, rate if role == "training" else None)
    stages = _with_trace(stages, names, traced, traced_steps)
    index, slowest = bound(stages, names)
    eager = [iterator for iterator in built.iterators if not iterator.in_graph]
    origin = eager[0].origin if eager else built.links[0].dataset.origin
    way = next((iterator.origin.way for iterator in eager if iterator.origin.way), "")
    made = sum(max(group) for group in _count_iterators(built).values())
    return Pipeline(
        stages=stages,
        file=origin.file,
        line=origin.line,
        function=origin.function,
        role=role,
        in_training=None if role == "unknown" else role == "training",
        in_graph=built.in_graph,
        shared=_shared(built),
        way=way,
        iterators=made,
        iterators_per_step=made / steps if steps and made else None,
        datasets_made=built.times,
        outputs_per_step=rate,
        outputs_each=measurement.each if measurement else None,
        bound_by=index,
        bound_ms_per_output=slowest,
        fetch_ms_per_step=traced.wait_ms / traced_steps if traced and traced_steps and role == "training" else None,
        fetch_window="trace" if traced and traced_steps and role == "training" else "",
        fetches_per_s=_pace(traced) if traced and not traced_steps else None,
        readings=measurement.readings if measurement else 0,
        measured=measured,
    )


def _shared(built: Built) -> tuple[SourceSpan, ...]:
    lines: dict[int, dict[SourceSpan, None]] = {}
    for item in built.iterators:
        if not item.in_graph and item.origin.file:
            place = SourceSpan(item.origin.file, item.origin.line, item.origin.function)
            lines.setdefault(item.dataset, {})[place] = None
    return tuple(dict.fromkeys(place for own in lines.values() if len(own) > 1 for place in own))


def _pace(traced: TracedPipeline) -> float | None:
    return traced.fetches * MS_PER_S / traced.wall_ms if traced.fetches > 1 and traced.wall_ms > 0 else None


def _count_iterators(built: Built) -> dict[object, list[int]]:
    """Iterators are counted line by line: the records of later ones are thinned out."""
    found: dict[object, list[int]] = {}
    for iterator in built.iterators:
        key = (iterator.origin, iterator.dataset if iterator.origin.by == "keras" else 0)
        found.setdefault(key, []).append(iterator.made)
    return found


def _stages(built: Built, running: Sequence[Measured], rate: float | None) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """(stages, their names in TensorFlow's model)."""
    links = built.links
    expanded = [
        (name, stage, name != FUSED.get(stage.name, (stage.name,))[-1])
        for stage in running
        for name in FUSED.get(stage.name, (stage.name,))
    ]
    pairs = align([link.dataset.cls for link in links], [name for name, _, _ in expanded])
    total = sum(stage.self_ns or 0.0 for stage in running) or None
    places = {ours: index for index, (ours, _) in enumerate(pairs) if ours is not None}
    stages: list[Stage] = []
    names: list[str] = []
    above: int | None = None
    for ours, theirs in pairs:
        stage = _described(built, ours, places) if ours is not None else None
        if theirs is not None:
            name, node, fused = expanded[theirs]
            stage = stage or Stage(
                kind=kind_of(name), cls=name, by="tensorflow", added=True, nested=above if node.nested else None
            )
            stage = _measured(stage, node, fused, total, rate)
            names.append(node.name)
        else:
            assert stage is not None
            names.append(stage.kind)
        if family(stage.kind) in ("Interleave", "FlatMap"):
            above = len(stages) if stage.nested is None else above
        stages.append(stage)
    return tuple(stages), tuple(names)


def _described(built: Built, index: int, places: dict[int, int]) -> Stage:
    link = built.links[index]
    made, about = link.dataset, link.dataset.about
    kind = kind_of(made.cls)
    return Stage(
        kind=kind,
        cls=made.cls,
        file=made.origin.file,
        line=made.origin.line,
        function=made.origin.function,
        by=made.origin.by,
        mapped=span(about.mapped),
        parameters=about.parameters,
        nested=places[link.nested] if link.nested is not None else None,
        is_python=kind == "Generator" or (bool(about.python_ops) and kind != "FlatMap"),
        stateful_or_random=bool(about.random_ops) or kind in ("Shuffle", "Random"),
        ops=about.ops,
        element=about.element,
        bytes_per_element=about.element_bytes,
        memory_bytes=about.memory_bytes,
        padding=about.padding,
        parallelism=_read_number(about.parameters.get("num_parallel_calls")),
        buffer=_read_number(about.parameters.get("buffer_size")) if kind in ("Prefetch", "Shuffle") else None,
        in_graph=bool(made.graph),
        begins=built.begins[index] if built.begins else (),
    )


def _measured(stage: Stage, node: Measured, fused: bool, total: float | None, rate: float | None) -> Stage:
    own = None if fused or node.self_ns is None else node.self_ns / _NS_PER_MS
    return msgspec.structs.replace(
        stage,
        fused=fused,
        self_ms_per_output=own,
        self_ms_per_step=own * rate if own is not None and rate is not None else None,
        share=own * _NS_PER_MS / total if total and own is not None else None,
        elements=None if fused else node.elements,
        parallelism=node.parallelism if node.parallelism is not None else stage.parallelism,
        autotuned=node.tuned,
        buffer=node.buffer if node.buffer is not None else stage.buffer,
        buffered_mean=None if fused else node.buffered,
        filled=node.filled,
    )


def _with_trace(
    stages: tuple[Stage, ...], names: Sequence[str], traced: TracedPipeline | None, steps: int
) -> tuple[Stage, ...]:
    if traced is None or not steps:
        return stages
    found = list(stages)
    times = [(name, own) for name, own, _, _ in traced.stages if not name.endswith("Impl")]
    active = [index for index, stage in enumerate(stages) if not stage.fused]
    for ours, theirs in align([names[index] for index in active], [name for name, _ in times]):
        if ours is not None and theirs is not None:
            index = active[ours]
            found[index] = msgspec.structs.replace(found[index], trace_self_ms_per_step=times[theirs][1] / steps)
    return tuple(found)


def _from_trace(traced: TracedPipeline) -> tuple[Measured, ...]:
    """Return a stage's times. One with threads of its own is seen waiting for them: its work is not known."""
    outputs = max(traced.fetches, 1)
    return tuple(
        Measured(
            name=name,
            path=(name,),
            elements=count / outputs,
            nested=nested,
            self_ns=None if name.startswith((*PARALLEL, "Prefetch")) else own * _NS_PER_MS / outputs,
        )
        for name, own, count, nested in traced.stages
        if not name.endswith("Impl")
    )


def likeness(built: Built, measurement: Measurement | None, traced: TracedPipeline) -> float:
    """How well the stages of a traced iterator fit: 0 to 1."""
    theirs = [name for name, _, _, _ in traced.stages if not name.endswith("Impl")]
    ours = [stage.name for stage in measurement.stages] if measurement else [link.dataset.cls for link in built.links]
    if not measurement:
        theirs = [part for name in theirs for part in FUSED.get(name, (name,))]
    both = sum(a is not None and b is not None for a, b in align(ours, theirs))
    return 2 * both / (len(ours) + len(theirs)) if theirs else 0.0


def span(place: Place | None) -> SourceSpan | None:
    return SourceSpan(place.file, place.line, place.function) if place is not None else None


def _read_number(value: object) -> float | None:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


#: Sources whose files a strategy can divide.
_READERS = ("TFRecord", "TextLine", "FixedLengthRecord", "SSTable", "RecordIO", "ArrayRecord")


def divided(datasets: Sequence[MadeDataset]) -> tuple[Divided, ...]:
    """List the pipelines that a strategy divides, one for each line."""
    known = {made.number: made for made in datasets}
    found = []
    for made in datasets:
        if kind_of(made.cls) != "AutoShard":
            continue
        below = [link.dataset for link in chain(known, made.number)]
        shards = [item.origin for item in below if kind_of(item.cls) == "Shard" and item.origin.by == "user"]
        found.append(
            Divided(
                policy=str(made.about.parameters.get("policy") or ""),
                reads_files=any(kind_of(item.cls).startswith(_READERS) for item in below),
                by_hand=SourceSpan(shards[0].file, shards[0].line, shards[0].function) if shards else None,
                file=made.origin.file,
                line=made.origin.line,
            )
        )
    return tuple(dict.fromkeys(found))


def random_order(datasets: Sequence[MadeDataset]) -> bool:
    """Whether another process would get the examples in another order."""
    return any(kind_of(made.cls) == "Shuffle" and not made.about.seed for made in datasets)
