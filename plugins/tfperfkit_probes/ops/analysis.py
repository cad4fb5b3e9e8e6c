"""The way from the records to one entry for each function: figures, control flow, the results of Grappler and XLA."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from tfperfkit.clock import ms
from tfperfkit.graph.dtypes import SHORT
from tfperfkit.graph.library import Library
from tfperfkit.graph.model import Damaged, Graph
from tfperfkit.graph.recorded import CalledFunction, RecordedFunction
from tfperfkit.graph.sessions import RUN, Request, SessionRuns
from tfperfkit.graph.walk import walk
from tfperfkit.model import SourceSpan
from tfperfkit.offers import FixedWork
from tfperfkit.probe import Capture
from tfperfkit.records.convert import read
from tfperfkit.records.graph_contents import MAX_OPERATIONS, CallsRecord, GraphContents, SessionRun
from tfperfkit_probes.ops import optimized
from tfperfkit_probes.ops.control import control_and_effects
from tfperfkit_probes.ops.copied_layers import copied_layers
from tfperfkit_probes.ops.exchange import exchanged, tables
from tfperfkit_probes.ops.fixed import fixed_work
from tfperfkit_probes.ops.loops import loops_of
from tfperfkit_probes.ops.model import Function, Marked, Optimized, SideEffect, Xla
from tfperfkit_probes.ops.source import Sources
from tfperfkit_probes.ops.stored import (
    MAX_FUNCTIONS,
    AutographRecord,
    FirstRunRecord,
    FunctionRecord,
    VariableRecord,
    XlaRecord,
)
from tfperfkit_probes.ops.summary import Precision, Summary, by_precision
from tfperfkit_probes.ops.unchanged import Unchanged

_Record = TypeVar("_Record")
_MAX_ARGUMENTS = 6


class Records:
    """The records, read back. A damaged line costs itself only."""

    def __init__(self, capture: Capture) -> None:
        self.functions = read(capture, "functions", FunctionRecord)
        # Runs recorded before 1.0 hold the graphs in a stream of the probe.
        self._library = Library((*capture.session_records("graphs"), *capture.records("graphs")))
        self.first_runs = {record.graph: record for record in read(capture, "first_runs", FirstRunRecord)}
        self.calls = {record.graph: record for record in read(capture, "calls", CallsRecord)}
        self.xla = {record.graph: record for record in read(capture, "xla", XlaRecord)}
        self.autograph = read(capture, "autograph", AutographRecord)
        self.sessions = SessionRuns(read(capture, "sessions", SessionRun), self.graph)
        #: The functions that were looked at, by the names of their graphs.
        self.compiled: dict[str, RecordedFunction] = {}

    def graph(self, name: str) -> Graph | None:
        """Return a graph with its bodies; None if it was not recorded or is damaged."""
        return self._library.graph(name)

    @property
    def contents(self) -> Iterable[GraphContents]:
        """Return what was recorded of each graph."""
        return self._library.contents.values()

    @cached_property
    def unchanged(self) -> Unchanged | None:
        """The variables that nothing changes; None where functions were left out, which might."""
        return Unchanged(self._all()) if self._is_whole() else None

    @cached_property
    def idle(self) -> Unchanged | None:
        """The variables that nothing but training changes, in the same way."""
        return Unchanged(self._all(), but_by_training=True) if self._is_whole() else None

    @property
    def called(self) -> list[CalledFunction]:
        """The traces with the variables that they change; none where functions were left out."""
        known = self.unchanged
        made = []
        for record, graph in self._all() if known is not None else ():
            in_session = record.function == RUN
            spans = record.frames if in_session else record.frames[:1]
            for span in spans or [SourceSpan("", 0)]:
                each = self._describe_called(known, record, graph, span) if known is not None else None
                made += [each] if each is not None else []
        return made

    def _describe_called(
        self, known: Unchanged, record: FunctionRecord, graph: Graph | None, span: SourceSpan
    ) -> CalledFunction:
        run = self.first_runs.get(record.graph)
        return CalledFunction(
            graph=record.graph,
            function=record.function,
            file=span.file,
            line=span.line,
            object=record.function_object,
            first_ns=run.begin_ns if run is not None else None,
            # The calls of a function with tensors among its arguments are compared from the second one on.
            once=record.graph not in self.calls and any(each.kind == "tensor" for each in record.arguments),
            nested=record.outer_id is not None,
            writes=known.find_written(record, graph),
        )

    def _all(self) -> list[tuple[FunctionRecord, Graph | None]]:
        requests = [(describe_request(each), each.graph) for each in self.sessions.requests]
        return [*((record, self.graph(record.graph)) for record in self.functions), *requests]

    def _is_whole(self) -> bool:
        return len(self.functions) < MAX_FUNCTIONS and self._library.operations < MAX_OPERATIONS

    def with_bodies(self, graph: Graph) -> list[Graph]:
        """Return a graph and the bodies that it calls, each once."""
        return list(dict.fromkeys([graph, *(visit.graph for visit in walk(graph))]))


def functions(
    records: Records, sources: Sources, is_shown: Callable[[FunctionRecord], bool], batch: int = 0
) -> list[Function]:
    """One entry for each function and signature, in the order in which they were traced. ``batch``: examples of a step,
    0 where not known."""
    names = {record.trace_id: record.function for record in records.functions}
    groups: dict[tuple[object, ...], list[FunctionRecord]] = {}
    for record in records.functions:
        if is_shown(record):
            # Keras runs its steps of training and of validation by functions of one source.
            trains = record.owner == "keras" and _has_gradients(records, record.graph)
            key = (record.file, record.line, record.qualname, signature(record), record.jit_compile, trains)
            groups.setdefault(key, []).append(record)
    found = []
    for group in groups.values():
        executed = [record for record in group if record.graph in records.first_runs]
        shown = (executed or group)[-1]
        graph = records.graph(shown.graph)
        if graph is not None:
            parent = names.get(shown.outer_id) if shown.outer_id is not None else None
            created = [name for record in group for name in record.created]
            callers = list(dict.fromkeys(record.frames[0] for record in group if record.frames))
            found.append(describe_function(shown, len(group), created, callers, parent, graph, records, sources, batch))
    return found


def describe_request(request: Request) -> FunctionRecord:
    """Describe what a session computes as a function that uses its variables."""
    graph, frames = request.graph, [SourceSpan(*place) for place in request.places]
    of_session = graph.name.partition(",")[0]
    variables = [
        VariableRecord(name=each, type="", key=f"{of_session}, {each}", placeholder=each)
        for each in graph.record.captures
    ]
    return FunctionRecord(graph=graph.name, trace_id=0, function=RUN, variables=variables, frames=frames)


def fixed_in(records: Records) -> FixedWork:
    """Find the results that the training functions compute again, unchanged, in each epoch."""
    return fixed_work((record, records.graph(record.graph)) for record in records.functions)


def _has_gradients(records: Records, name: str) -> bool:
    graph = records.graph(name)
    bodies = records.with_bodies(graph) if graph is not None else []
    return any(node.backward for body in bodies for node in body.nodes.values())


def describe_function(
    record: FunctionRecord,
    traces: int,
    created: list[str],
    callers: list[SourceSpan],
    parent: str | None,
    graph: Graph,
    records: Records,
    sources: Sources,
    batch: int,
) -> Function:
    """Describe a function by its last trace. ``batch``: examples of a step, 0 where not known."""
    run = records.first_runs.get(record.graph)
    open_size, note = _open_size(record, graph, run)
    summary = Summary(graph, open_size)
    # Elements that Keras' own functions take from an iterator have no size in the graph: the steps' batch size is used.
    sized = (
        by_precision(graph, batch)
        if open_size is None and batch and summary.unknown
        else Precision(summary.flops, summary.float64_flops, summary.half_flops)
    )
    outside = {(frame.file, frame.line) for frame in record.frames}
    own = (record.file, record.line) if record.owner == "user" and record.file else None
    loops, outside_measured = loops_of(graph, open_size)
    sent = exchanged(graph, open_size)
    control, effects = control_and_effects(summary.graphs, sources, own, outside)
    records.compiled[record.graph] = RecordedFunction(
        graph,
        open_size or batch or None,
        unchanged=_unchanged(records.unchanged, record),
        idle=_unchanged(records.idle, record),
        calls=records.calls.get(record.graph),
        shapes=_opened(graph, run),
        variables={each.placeholder: each.key for each in record.variables if each.placeholder and each.key},
    )
    optimized, after, reason = _optimized(graph, run)
    counted = summary.unknown < sum(summary.ops.values()) / 2 or not summary.unknown
    if summary.unknown:
        note = f"{note}; {summary.unknown} operations of open size are not counted".lstrip("; ")
    if not summary.exact:
        note = f"{note}; loops with an unknown number of iterations are counted once".lstrip("; ")
    return Function(
        function=record.function,
        qualname=record.qualname,
        file=record.file,
        line=record.line,
        owner=record.owner,
        graph=record.graph,
        signature=signature(record),
        arguments=record.arguments,
        results=record.results,
        captures=record.captured,
        captured_bytes=record.captured_bytes,
        variables=len(record.variables),
        variable_bytes=sum(variable.bytes or 0 for variable in record.variables),
        parameter_bytes=sum(variable.bytes or 0 for variable in record.variables if variable.trainable),
        embedding_bytes=sum(variable.bytes or 0 for variable in record.variables if _is_embedding(variable)),
        server_bytes=_by_server(record),
        created_variables=created,
        parent=parent,
        calls=None,
        traces=traces,
        trace_ms=ms(record.end_ns - record.begin_ns),
        first_execution_ms=ms(run.end_ns - run.begin_ns) if run is not None else None,
        ops=dict(summary.ops.most_common()),
        operations=sum(summary.ops.values()),
        ops_optimized=after,
        not_optimized_reason=reason,
        optimized=optimized,
        added_by_tf_function=_added(graph),
        flops=summary.flops if counted else None,
        flops_note=note,
        flops_unknown=summary.unknown,
        by_type=summary.by_type(),
        by_line=summary.by_line(),
        by_layer=summary.by_layer(),
        moved_bytes=summary.moved_bytes,
        activation_bytes=summary.activation_bytes if summary.has_gradients else None,
        intensity=summary.flops / summary.moved_bytes if summary.moved_bytes and counted else None,
        constants_bytes=summary.constants_bytes,
        constants=sorted(summary.constants, key=lambda constant: -constant.bytes)[:50],
        float64=summary.marked("float64"),
        float64_flops_share=sized.float64 / sized.flops if sized.flops else 0.0,
        float64_sources=summary.marked("float64_source"),
        casts=summary.ops["Cast"],
        casts_by_line=summary.marked("cast"),
        int32_ops=summary.int32_ops,
        python_calls=summary.marked("python"),
        prints=summary.marked("print"),
        asserts=summary.marked("assert"),
        side_effects=_unique(effects),
        control=control,
        loops=loops,
        outside_measured=outside_measured,
        exchanged=sent,
        # Tables matter where replicas exchange their gradients.
        tables=tables(graph, open_size, record.variables) if sent else [],
        copied_layers=copied_layers(summary.graphs),
        callers=callers,
        lines_known=summary.lines_known,
        half_flops_share=sized.half / sized.flops if sized.flops else None,
        backward_operations=summary.backward_operations,
        jit_compile=record.jit_compile,
        xla=_xla(record, summary.graphs, records.xla.get(record.graph)),
    )


def _unchanged(known: Unchanged | None, record: FunctionRecord) -> frozenset[str]:
    return known.placeholders(record) if known is not None else frozenset()


def _by_server(record: FunctionRecord) -> dict[str, int]:
    """Bytes of the variables on parameter servers, by device."""
    found: dict[str, int] = {}
    for variable in record.variables:
        if variable.server:
            found[variable.server] = found.get(variable.server, 0) + (variable.bytes or 0)
    return found


def _is_embedding(variable: VariableRecord) -> bool:
    """Whether a variable is the table of an Embedding layer: by the name that Keras gives it."""
    return variable.trainable and variable.name.partition(":")[0].rpartition("/")[2] == "embeddings"


def signature(record: FunctionRecord) -> str:
    """``(x: f32[32,784], training: True) → f32[]``."""
    shown = [f"{a.path}: {a.text}" for a in record.arguments if a.path != "self"]
    left = len(shown) - _MAX_ARGUMENTS
    more = [f"{left} more"] if left > 0 else []
    results = [_short(text) for text in record.results[:_MAX_ARGUMENTS]]
    if len(record.results) > _MAX_ARGUMENTS:
        results.append(f"{len(record.results) - _MAX_ARGUMENTS} more")
    return f"({', '.join(shown[:_MAX_ARGUMENTS] + more)}) → {', '.join(results) or 'nothing'}"


def _short(text: str) -> str:
    dtype, bracket, rest = text.partition("[")
    return f"{SHORT.get(dtype, dtype)}{bracket}{rest}"


def _open_size(record: FunctionRecord, graph: Graph, run: FirstRunRecord | None) -> tuple[int | None, str]:
    """Return the size to assume for an open first dimension: its size in the first call, if all arguments agree."""
    if run is None:
        return None, ""
    sizes = set()
    for name, shape in zip(graph.record.arguments, run.shapes, strict=False):
        declared = graph.type_of(name).shape
        if declared and declared[0] < 0 and shape:
            sizes.add(shape[0])
    if len(sizes) != 1:
        return None, ""
    size = sizes.pop()
    return size, f"open first dimensions counted as {size}, as in the first call"


def _opened(graph: Graph, run: FirstRunRecord | None) -> dict[str, tuple[int, ...]]:
    """The shapes of the arguments with open sizes, in the first call."""
    found = {}
    for name, shape in zip(graph.record.arguments, run.shapes if run is not None else (), strict=False):
        declared = graph.type_of(name).shape
        if shape is not None and declared is not None and -1 in declared and len(shape) == len(declared):
            found[name] = tuple(shape)
    return found


def _added(graph: Graph) -> dict[str, int]:
    """The placeholders and identities that tf.function itself puts at the graph's edges."""
    record = graph.record
    identities = {name for name in record.results if name in graph.nodes and graph.nodes[name].type == "Identity"}
    return {
        "argument placeholders": len(record.arguments),
        "capture placeholders": len(record.captures),
        "result identities": len(identities),
    }


def _optimized(graph: Graph, run: FirstRunRecord | None) -> tuple[Optimized | None, dict[str, int] | None, str]:
    if run is None:
        return None, None, "it was not run by itself: it is part of another graph, or was only traced"
    if run.optimized is None:
        return None, None, run.reason
    try:
        return optimized.compare(graph, run.optimized), optimized.histogram(run.optimized), ""
    except Damaged as error:
        return None, None, f"its record is damaged ({error})"


def _unique(effects: Sequence[SideEffect]) -> list[SideEffect]:
    return list(dict.fromkeys(effects))


_NODE = re.compile(r"(?:(\w+) \((?:No registered|[^)]*not)[^{]*)?\{\{node ([^}]+)\}\}")
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?[\w.-]+ = ", re.MULTILINE)
_FUSION = re.compile(r" fusion\(.*kind=k(\w+)")


def _xla(record: FunctionRecord, graphs: Iterable[Graph], asked: XlaRecord | None) -> Xla:
    if asked is None:
        reason = "compiled by XLA: jit_compile" if record.jit_compile else "not asked"
        return Xla(jit_compile=record.jit_compile, compiles=True if record.jit_compile else None, reason=reason)
    view = asked.view
    if view.error:
        places: dict[str, tuple[str, SourceSpan | None]] = {}
        for graph in graphs:
            for node in graph.nodes.values():
                places.setdefault(node.name, (node.type, node.place))
        found: Counter[tuple[str, SourceSpan | None]] = Counter()
        for kind, name in dict.fromkeys(_NODE.findall(view.error)):
            known, where = places.get(name, places.get(name.rpartition("/")[2], (kind or name, None)))
            found[known, where] += 1
        blocking = [Marked(type=kind, ops=n, where=where) for (kind, where), n in found.items()]
        first = view.error.strip().splitlines()[0] if view.error.strip() else "XLA gave no reason"
        return Xla(jit_compile=record.jit_compile, compiles=False, reason=first[:400], blocking=blocking, ms=view.ms)
    before, after = view.hlo or "", view.optimized_hlo or ""
    return Xla(
        jit_compile=record.jit_compile,
        compiles=True,
        ms=view.ms,
        hlo_instructions=len(_INSTRUCTION.findall(before)),
        optimized_instructions=len(_INSTRUCTION.findall(after)),
        fusions=dict(Counter(_FUSION.findall(after)).most_common()),
    )
