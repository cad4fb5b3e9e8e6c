"""Graph lines as data for the JSON report. Times are in ms a step of the traced window."""

from __future__ import annotations

import msgspec

from tfperfkit.graph.bounds import NOT_MEASURED, AtHand
from tfperfkit.graph.stages import BACKWARD, FORWARD, UPDATE
from tfperfkit_probes.lines.graph.analysis import GraphLines
from tfperfkit_probes.lines.graph.limits import Limit, layer_limits
from tfperfkit_probes.lines.graph.origin import Node
from tfperfkit_probes.lines.graph.repeated import BesideTime, RepeatedPass, beside, repeated_passes
from tfperfkit_probes.lines.graph.tree import Branch, FunctionTime

PS_PER_MS = 1_000_000_000
#: Branches under this share of their function are summed up in their parents only.
_MIN_SHARE = 0.0002
_MAX_UNMATCHED = 20


class LineTime(msgspec.Struct, frozen=True, kw_only=True):
    """A line, or what its time unfolds into: another function's line, a Keras layer, a part of Keras.

    The times are those of the line and all that it calls. ``busy_ms`` sums up over threads. ``children`` may leave
    out what is very small.
    """

    line: int
    forward_ms: float
    backward_ms: float
    update_ms: float
    ms: float
    busy_ms: float
    file: str
    function: str = ""
    kind: str = "line"  # "line", "layer", "part"
    name: str = ""  # of a layer or part
    detail: str = ""  # of a layer: its class; of a line: others that may as well have called what ran
    shape: str = ""  # of a layer's output
    children: tuple[LineTime, ...] = ()


class Innermost(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a line itself, as the innermost of the user's own on the way to an operation."""

    file: str
    line: int
    function: str
    forward_ms: float
    backward_ms: float
    update_ms: float


class LayerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A Keras layer: its own operations, without layers in it. FLOPs are of those whose shapes tell."""

    layer: str
    kind: str
    shape: str
    forward_ms: float
    backward_ms: float
    update_ms: float
    share: float  # of the function's time, 0 to 1
    gflop: float | None
    gflop_per_s: float | None
    bound: str = ""  # by what, in words
    gb: float | None = None  # read and written, where the shapes tell
    operation: str = ""  # the costliest, with the shapes of what it takes and makes


class Unmatched(msgspec.Struct, frozen=True, kw_only=True):
    """An operation (``name:type``) for which no line is known."""

    name: str
    ms: float


class GraphFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function that ran as a compiled graph. ``ms_per_step`` = the lines' ms + ``unattributed_ms``.

    Without a trace only the function itself is known. ``matched_share``: of the operations' time (0 to 1).
    ``unattributed_ms``: the runtime, gaps, waiting and unmatched operations. ``where``: "step"; "stretch" where the
    trace has no steps, then all times are of all of it; or, for tf.data's map functions, "pipeline": then the times are
    busy times on its threads, next to the step.
    """

    function: str
    file: str
    line: int
    ms_per_step: float | None
    matched_share: float | None = None
    unattributed_ms: float | None = None
    lines: tuple[LineTime, ...] = ()
    innermost: tuple[Innermost, ...] = ()
    layers: tuple[LayerRow, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    unmatched_ms: float = 0.0
    divided_share: float = 0.0  # of the time: kernels divided over several operations
    calls_per_step: float | None = None
    compiler: str = ""  # "xla"
    where: str = "step"
    no_source_ms: float = 0.0  # loaded from a SavedModel
    repeated: tuple[RepeatedPass, ...] = ()
    beside: tuple[BesideTime, ...] = ()  # metrics and summaries


def graph_function(
    function: FunctionTime, lines: GraphLines, where: str = "step", machine: AtHand = NOT_MEASURED
) -> GraphFunction:
    """The data of one function. ``machine``: what it reaches at best."""
    owner = function.owner
    to_ms = _scale(lines)
    whole = max(function.wall, 1)
    tops = [_line(branch, to_ms, whole * _MIN_SHARE) for branch in _top(function)]
    unmatched = sorted(function.unmatched.items(), key=lambda item: -item[1])[:_MAX_UNMATCHED]
    return GraphFunction(
        function=owner.function,
        file=owner.file,
        line=owner.line,
        ms_per_step=function.wall * to_ms,
        matched_share=function.matched_share,
        unattributed_ms=(function.idle + function.unmatched_wall) * to_ms,
        lines=tuple(sorted(tops, key=lambda line: (line.file != owner.file, line.file, line.line))),
        innermost=_innermost(function, to_ms),
        layers=_layers(function, to_ms, lines.steps, machine),
        unmatched=tuple(Unmatched(name=name, ms=wall * to_ms) for name, wall in unmatched),
        unmatched_ms=function.unmatched_wall * to_ms,
        divided_share=function.divided_wall / whole,
        calls_per_step=function.calls / max(lines.steps, 1),
        compiler="xla" if function.jit else "",
        where=where,
        no_source_ms=function.saved_wall * to_ms,
        repeated=repeated_passes(lines, function, to_ms) if where != "pipeline" else (),
        beside=beside(function, to_ms) if where != "pipeline" else (),
    )


def _scale(lines: GraphLines) -> float:
    return 1 / PS_PER_MS / max(lines.steps, 1)


def _top(function: FunctionTime) -> list[Branch]:
    """The branches of the function's own lines; what belongs to no line of it goes to where it is defined."""
    owner = function.owner
    found: dict[Node, Branch] = {}
    for node, branch in function.root.branches.items():
        if node.kind == "line":
            found[node] = branch
            continue
        place = Node("line", owner.function, owner.file, owner.line)
        top = found.setdefault(place, Branch(place))
        top.branches[node] = branch
        top.busy += branch.busy
        for stage, wall in branch.wall.items():
            top.wall[stage] += wall
    return list(found.values())


def _line(branch: Branch, to_ms: float, lower: float) -> LineTime:
    node = branch.node
    inner = [item for item in branch.branches.values() if item.total >= lower or item.busy >= lower]
    is_line = node.kind == "line"
    return LineTime(
        line=node.line,
        file=node.file,
        function=node.name if is_line else "",
        kind=node.kind,
        name="" if is_line else node.name,
        detail=node.detail,
        shape=node.shape,
        forward_ms=branch.wall[FORWARD] * to_ms,
        backward_ms=branch.wall[BACKWARD] * to_ms,
        update_ms=branch.wall[UPDATE] * to_ms,
        ms=branch.total * to_ms,
        busy_ms=branch.busy * to_ms,
        children=tuple(_line(item, to_ms, lower) for item in inner),
    )


def _innermost(function: FunctionTime, to_ms: float) -> tuple[Innermost, ...]:
    found: dict[Node, dict[str, float]] = {}

    def visit(branch: Branch, line: Node) -> None:
        if branch.node.kind == "line":
            line = branch.node
        times = found.setdefault(line, {FORWARD: 0.0, BACKWARD: 0.0, UPDATE: 0.0})
        for stage, wall in branch.own_wall.items():
            times[stage] += wall
        for inner in branch.branches.values():
            visit(inner, line)

    for top in _top(function):
        visit(top, top.node)
    rows = [
        Innermost(
            file=node.file,
            line=node.line,
            function=node.name,
            forward_ms=times[FORWARD] * to_ms,
            backward_ms=times[BACKWARD] * to_ms,
            update_ms=times[UPDATE] * to_ms,
        )
        for node, times in found.items()
        if any(times.values())
    ]
    return tuple(sorted(rows, key=lambda row: (row.file, row.line)))


def _layers(function: FunctionTime, to_ms: float, steps: int, machine: AtHand) -> tuple[LayerRow, ...]:
    rows = []
    limits = layer_limits(function, machine, steps)
    for name, layer in function.layers.items():
        wall = sum(layer.wall.values())
        limit = limits.get(name, Limit())
        rows.append(
            LayerRow(
                layer=name,
                kind=layer.kind,
                shape=layer.shape,
                forward_ms=layer.wall[FORWARD] * to_ms,
                backward_ms=layer.wall[BACKWARD] * to_ms,
                update_ms=layer.wall[UPDATE] * to_ms,
                share=wall / max(function.wall, 1),
                gflop=layer.flops / 1e9 / max(steps, 1) if layer.flops else None,
                gflop_per_s=layer.flops / 1e9 / (layer.flops_wall / 1e12) if layer.flops and layer.flops_wall else None,
                bound=limit.words,
                gb=limit.bytes / 1e9 / max(steps, 1) if limit.bytes is not None else None,
                operation=limit.operation,
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.share))
