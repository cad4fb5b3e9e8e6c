"""The record of graph lines on disk: one for each outermost trace, in the stream ``graphs``."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.graph.built import build
from tfperfkit.graph.facts import graphs_in
from tfperfkit.graph.library import Library
from tfperfkit.graph.sessions import RUN, Request, SessionRuns
from tfperfkit.graph.tracebacks import common_frames
from tfperfkit.graph.traced import TracedGraphs
from tfperfkit.probe import Capture
from tfperfkit.records.convert import each
from tfperfkit.records.graph_contents import SessionRun

STREAM = "graphs"
#: Operations looked at of a run: a graph counts in each trace that calls it.
MAX_OPERATIONS = 300_000
#: Instead of graphs that are not looked at.
LEFT_OUT = TracedGraphs(functions={}, graphs=[], types=[], files=[], frames=[], stacks=[], areas=[], layers=[])
#: Levels that a line is unfolded by, unless the option ``depth`` says otherwise.
DEPTH = 3


class Place(msgspec.Struct, frozen=True, array_like=True):
    """A frame of the user's code."""

    file: str
    line: int
    function: str


class BuiltGraphs(msgspec.Struct, frozen=True, kw_only=True):
    """The graphs of one outermost trace, and the Python function that was traced.

    ``function`` is empty for functions built outside of any trace: forward and backward of a ``tf.function`` that
    is called under an eager tape. ``functions``: the runtime's name of each function, with the name of its graph's
    record in the session's stream ``graphs``. Only runs from before 1.0 hold ``graphs``.
    """

    number: int
    function: str = ""
    file: str = ""
    line: int = 0
    owner: str = ""  # "user", "keras", "tensorflow", "tf.data"; "session": what runs of a session compute
    called_from: list[Place] = []  # the user's frames when the trace began, outermost first
    keras_method: str = ""  # of the model, where Keras itself made the function: "fit"
    jit_compile: bool = False
    trace_ns: int = 0
    cost_ns: int = 0  # what reading the graphs took
    functions: dict[str, str] = {}
    graphs: TracedGraphs = LEFT_OUT


def read_graphs(capture: Capture) -> Iterator[BuiltGraphs]:
    """Yield what was recorded, and what sessions of TensorFlow 1 compute, a function for each set of fetches. A damaged
    record is left out; the graphs beyond ``MAX_OPERATIONS`` are ``LEFT_OUT``."""
    library = Library(capture.session_records(STREAM))
    room = MAX_OPERATIONS
    number = 0
    for row in capture.records(STREAM):
        try:
            built = msgspec.convert(row, BuiltGraphs, str_keys=True)
            if built.functions:
                graphs = build(built.functions, library.graph) if room >= 0 else LEFT_OUT
                built = msgspec.structs.replace(built, graphs=graphs)
                room -= sum(len(graph.operations) for graph in graphs.graphs)
            number = max(number, built.number)
            yield built
        except (msgspec.ValidationError, IndexError, ValueError):
            continue
    for request in SessionRuns(each(capture.records("sessions", "ops"), SessionRun), library.graph).requests:
        number += 1
        room -= len(request.graph.nodes)
        yield _built_session(number, request, in_full=room >= 0)


def _built_session(number: int, request: Request, *, in_full: bool) -> BuiltGraphs:
    """Return what a session's run computes as a function, whose lines begin where those of its operations part."""
    graph, (file, line) = request.graph, request.places[0]
    called = graphs_in([graph])
    graphs = build({name: name for name in called}, called.get) if in_full else LEFT_OUT
    return BuiltGraphs(
        number=number,
        function=RUN,
        file=file,
        line=line,
        owner="session",
        called_from=[Place(*frame) for frame in common_frames(graph.record)],
        graphs=graphs,
    )
