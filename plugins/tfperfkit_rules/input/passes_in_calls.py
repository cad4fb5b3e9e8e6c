"""INP006, for a dataset that each call of a compiled function goes through again, in a loop that trains nothing.

The function's graph reduces a dataset that it captures, so each call begins at its first element. The last map below
which nothing is random gives the same elements in each pass if the variables that it reads stay: the graphs that ran
write variables of other types alone, and the trace has no operation outside of graphs that writes any.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.input.model import InputData, Pipeline, Stage

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import MEDIUM
from tfperfkit.graph import optable
from tfperfkit.graph.library import Library
from tfperfkit.graph.model import Graph
from tfperfkit.graph.recorded import RecordedGraphs
from tfperfkit.graph.walk import WRITES, Visit, walk
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import RanOperations
from tfperfkit.pricing import Left, Part, price
from tfperfkit.remedy import ChangeStage
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.stage_order import CACHED_LEFT_MAX
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.feed import mapped_ms, name_stage, place, places
from tfperfkit_rules.measures.ran_functions import Ran, list_ran_functions
from tfperfkit_rules.measures.source_calls import find_methods
from tfperfkit_rules.measures.source_text import find_loop
from tfperfkit_rules.measures.trace_window import traced, waited_share

MIN_PASSES = Threshold(
    3, "iterations", "minimum number of passes over the same dataset", Chosen("two may be before and after something")
)

#: A loop over a dataset within a compiled function is one, too.
_REDUCES = "ReduceDataset"
_READS = optable.names(trait="reads-variable") | optable.names(kind="variable-gather")
_TABLES = optable.names(trait="writes-table")
#: Methods that change variables.
_CHANGES = ("assign", "assign_add", "assign_sub", "set_weights", "load_weights", "apply_gradients", "minimize", "fit",
            "train_on_batch", "restore", "adapt")  # fmt: skip


def mapped_in_each_call(evidence: Evidence) -> Iterator[Finding]:
    """Find the only such dataset of a work whose iterations are counted."""
    data, graphs, work = evidence.offer(InputData), evidence.offer(RecordedGraphs), evidence.work
    window = traced(evidence)
    if data is None or graphs is None or work is None or window is None or (work.iterations or 0) < MIN_PASSES.value:
        return
    pipelines = [item for item in data.pipelines if item.in_graph and item.fetches_per_s]
    if len(pipelines) != 1 or pipelines[0].datasets_made > shared.MOSTLY.value * (work.iterations or 0):
        return  # the function is traced again in most calls, each time with a dataset of its own
    pipeline = pipelines[0]
    ran = list_ran_functions(evidence)
    calling = [each for each in ran if _captures_dataset(_graph(graphs, each))]
    kept = _list_kept(pipeline)
    if not kept or len(calling) != 1 or not _stays(evidence, graphs, ran, kept):
        return
    stage = kept[-1]
    took = mapped_ms(evidence).get((stage.mapped.file, stage.mapped.line), 0.0) if stage.mapped is not None else 0.0
    share = took * window.scale / (evidence.step_ms or 1.0)
    waited = min(share, waited_share(evidence) or 0.0)
    if waited < MEDIUM:
        return
    name, function = name_stage(stage), calling[0].function.function
    low, high = (1 - CACHED_LEFT_MAX.value) * waited, min(share, waited + evidence.share("graph"))
    yield Finding(
        code="INP006",
        remedy=ChangeStage("cache"),
        title=f"{name} repeats the same work in every call of {function}",
        share_of_step=waited,
        gain=price(ChangeStage("cache"), Part(low, max(low, high)), Left(0.0, 1 / (work.iterations or 1))),
        where=places(evidence, place(stage, pipeline), stage.mapped, SourceSpan(*calling[0].place)),
        evidence=(
            Measurement(f"share of {evidence.unit.the} waiting for this dataset", waited, "share", window.by),
            Measurement(f"work of {name}, relative to {evidence.unit.the}", share, "share", window.by),
            Measurement("iterations of the loop", float(work.iterations or 0), "count", "run"),
        ),
        advice=f"Cache its results, so that only the first call computes them: .{name.partition('(')[0]}(...).cache(). "
        "Or: compute them once, before the loop, and give the function the tensors.",
        detail=f"Each call of {function} goes through the dataset from its first element. Nothing in {name} is random, "
        "and no variable that it reads changes in the loop. The cache holds all results in memory; .cache(path) keeps "
        "them in a file.",
        absorbs=("INP001", "INP003", "INP004", "RET014", "STP003"),
    )


def _graph(graphs: RecordedGraphs, each: Ran) -> Graph | None:
    function = graphs.functions.get(each.function.graph)
    return function.graph if function is not None else None


def _captures_dataset(graph: Graph | None) -> bool:
    """Whether a function reduces a dataset that it captures."""
    for node in graph.nodes.values() if graph is not None else ():
        source = node if node.type == _REDUCES else None
        while source is not None and source.inputs and graph is not None:
            source = graph.nodes.get(source.inputs[0][0])
            if source is not None and graph.type_of(source.name).dtype != "variant":
                break
            if source is not None and source.name in graph.record.captures:
                return True
    return False


def _list_kept(pipeline: Pipeline) -> list[Stage]:
    """List the stages, from the source on, up to the last map that was made outside of the function, if nothing in
    them is random, they end in no cache, and none runs Python."""
    kept: list[Stage] = []
    last = 0
    for stage in reversed(pipeline.stages):
        if stage.in_graph or stage.nested is not None:
            break
        if stage.is_python or stage.stateful_or_random or stage.kind in ("Random", "Shuffle"):
            break
        kept.append(stage)
        if stage.kind in ("Map", "ParallelMap"):
            last = len(kept)
        elif stage.kind == "Cache":
            last = 0
    return kept[:last]


def _stays(evidence: Evidence, graphs: RecordedGraphs, ran: list[Ran], kept: list[Stage]) -> bool:
    """Whether nothing that the functions of these stages read changes in the work."""
    work, operations = evidence.work, evidence.offer(RanOperations)
    if work is None or operations is None or operations.rest_ms:
        return False
    if any(row.where == "eager" and _changes(row.type) for row in operations.rows):
        return False
    loop = find_loop(evidence, work.where.file, work.where.line)
    if loop is None or any(
        file == work.where.file and loop.line <= call.line <= loop.last
        for file, call in find_methods(evidence, *_CHANGES)
    ):
        return False
    called = [graph for each in ran if (graph := _graph(graphs, each)) is not None]
    mapped = _find_graphs(evidence, [stage.mapped for stage in kept if stage.mapped is not None])
    if len(called) < len(ran) or mapped is None or any(_changes(visit.node.type) for visit in _walk_all(mapped)):
        return False
    writes = [visit for visit in _walk_all(called) if _changes(visit.node.type)]
    if any(visit.node.type in _TABLES for visit in writes):
        return False
    written = {kind.dtype for visit in writes for kind in visit.graph.input_types(visit.node)[1:]}
    read = {visit.graph.type_of(visit.node.name).dtype for visit in _walk_all(mapped) if visit.node.type in _READS}
    return written.isdisjoint({*read, ""})


def _changes(kind: str) -> bool:
    """Return whether operations of a type write variables or tables."""
    return kind in WRITES or kind in _TABLES


def _find_graphs(evidence: Evidence, mapped: list[SourceSpan]) -> list[Graph] | None:
    """Find the graphs of functions that stages map, by their first lines; None if one was not recorded."""
    library = Library(evidence.records("graphs"))
    found: list[Graph] = []
    for where in mapped:
        names = [
            name
            for name, record in library.contents.items()
            if record.function.startswith("Dataset_")
            and any((record.files[file], line) == (where.file, where.line) for file, line, _ in record.frames)
        ]
        graph = library.graph(names[0]) if names else None
        if graph is None:
            return None
        found.append(graph)
    return found


def _walk_all(graphs: list[Graph]) -> Iterator[Visit]:
    """Go through graphs, and through those that their datasets map."""
    for graph in graphs:
        for visit in walk(graph):
            yield visit
            if "Dataset" in visit.node.type:
                names = [name for each in visit.node.functions().values() for name in each]
                yield from _walk_all([body for name in names if (body := visit.graph.body(name)) is not None])
