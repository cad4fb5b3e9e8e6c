"""Graphs that no call of a compiled function runs: the functions that tf.data calls for its elements, and what sessions
of TensorFlow 1 compute."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.graph.model import Graph
from tfperfkit.graph.sessions import Request
from tfperfkit.graph.tracebacks import common_frames
from tfperfkit.model import SourceSpan
from tfperfkit.records.graph_contents import GraphContents
from tfperfkit_probes.ops.analysis import Records, describe_function, describe_request
from tfperfkit_probes.ops.brief import brief
from tfperfkit_probes.ops.model import Brief, Function, MappedGraphs
from tfperfkit_probes.ops.source import Sources
from tfperfkit_probes.ops.stored import FirstRunRecord, FunctionRecord

#: TensorFlow begins the names of these graphs so: ``Dataset_map_load`` (``StructuredFunctionWrapper``).
_BEGIN = "Dataset_"


def mapped_graphs(records: Records, sources: Sources) -> MappedGraphs:
    """Describe the functions that tf.data calls."""
    known = {record.graph for record in records.functions}
    found = []
    for contents in records.contents:
        graph = records.graph(contents.name) if contents.name not in known and _is_mapped(contents) else None
        if graph is not None:
            found.append(brief(_describe_mapped(graph, records, sources)))
    return MappedGraphs(functions=tuple(found))


def session_graphs(records: Records, sources: Sources) -> Iterator[Brief]:
    """Describe what sessions compute as functions that the lines of their runs call."""
    for request in records.sessions.requests:
        made = brief(_describe_request(request, records, sources))
        file, line = request.places[0]
        yield msgspec.structs.replace(made, file=file, line=line)


def _is_mapped(contents: GraphContents) -> bool:
    return contents.function.startswith(_BEGIN) and bool(contents.tracebacks)


def _describe_mapped(graph: Graph, records: Records, sources: Sources) -> Function:
    contents = graph.record
    # The callers include the line that makes the stage.
    callers = [SourceSpan(*frame) for frame in reversed(common_frames(contents))]
    record = FunctionRecord(
        graph=contents.name, trace_id=0, function=contents.function, owner="tf.data", frames=callers
    )
    return describe_function(record, 1, [], callers, None, graph, records, sources, 0)


def _describe_request(request: Request, records: Records, sources: Sources) -> Function:
    name, callers = request.graph.name, [SourceSpan(*place) for place in request.places]
    shapes = [list(shape) if shape is not None else None for shape in request.shapes]
    # Its first run is no other than those that follow.
    records.first_runs[name] = FirstRunRecord(graph=name, begin_ns=0, end_ns=0, shapes=shapes)
    record = describe_request(request)
    made = describe_function(record, 1, [], callers, None, request.graph, records, sources, 0)
    # The Python around its operations is no function that is traced, and can capture nothing.
    return msgspec.structs.replace(made, side_effects=[], constants=[])
