"""Calls of one model in a step whose work is the same, and what metrics and summaries take: rules judge them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import msgspec

from tfperfkit.graph.repeats import LayerCall
from tfperfkit.graph.stages import FORWARD
from tfperfkit.graph.traced import TracedGraph, TracedGraphs
from tfperfkit.model import SourceSpan
from tfperfkit.records.graph_contents import LAYER_CALL
from tfperfkit_probes.lines.graph.analysis import GraphLines
from tfperfkit_probes.lines.graph.origin import Node
from tfperfkit_probes.lines.graph.tree import Branch, FunctionTime

#: Parts of a step that the training itself does not need.
_BESIDE = ("metrics", "summaries")
_CALLS = re.compile(r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+")


class RepeatedPass(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of one model or compiled function on the same tensors, or by the same code for the updates of different
    optimizers: one could serve for all. ``forward_ms``: of all calls, a step. ``callers``: the traced function's own
    lines above them. ``same_input``: the very same tensors go in, and no variable changes between the calls."""

    model: str
    calls: int
    forward_ms: float
    lines: tuple[SourceSpan, ...]
    callers: tuple[SourceSpan, ...]
    same_input: bool = False


class BesideTime(msgspec.Struct, frozen=True, kw_only=True):
    """ms of a step in "metrics" or "summaries" that one line of the user's leads to; no ``where``: none does."""

    part: str
    ms: float
    where: SourceSpan | None


def repeated_passes(lines: GraphLines, function: FunctionTime, to_ms: float) -> tuple[RepeatedPass, ...]:
    """Those of one function; ``to_ms`` makes ms of a step from ps of the window."""
    found = []
    seen: set[tuple[int, tuple[tuple[int, str], ...]]] = set()
    for number, graph, calls in _groups(lines, function):
        # Keras traces a step for each of two functions around it: the same calls are in both graphs, and one ran.
        key = number, tuple((call.layer, call.scope) for call in calls)
        if key in seen:
            continue
        seen.add(key)
        built = next(item for item in lines.built if item.number == number)
        wall = 0.0
        own: dict[Node, None] = {}
        above: dict[Node, None] = {}
        for call in calls:
            spent, made, called = _forward(function, number, graph, call)
            wall += spent
            own.update(dict.fromkeys(_calling(built.graphs, graph, call) or made))
            above.update(dict.fromkeys(called))
        found.append(
            RepeatedPass(
                model=built.graphs.layers[calls[0].layer].name,
                calls=len(calls),
                forward_ms=wall * to_ms,
                lines=tuple(map(_span, own)),
                callers=tuple(map(_span, above)),
                same_input=_same_input(calls),
            )
        )
    return tuple(found)


def _span(node: Node) -> SourceSpan:
    return SourceSpan(node.file, node.line, node.name)


def _groups(lines: GraphLines, function: FunctionTime) -> Iterator[tuple[int, TracedGraph, list[LayerCall]]]:
    """Calls of one model whose work is the same: on the same tensors, or by the same code for different updates."""
    numbers = {number for number, _, _ in function.operations}
    for built in lines.built:
        if built.number not in numbers:
            continue
        for graph in built.graphs.graphs:
            updates = 0
            for call in graph.layer_calls:
                updates |= call.serves
            alike: dict[tuple[int, int], list[LayerCall]] = {}
            for call in graph.layer_calls:
                alike.setdefault((call.layer, call.structure), []).append(call)
            for calls in alike.values():
                same = _by_input(calls)
                if same:
                    yield from ((built.number, graph, each) for each in same)
                elif len(calls) > 1 and _for_updates(calls, updates):
                    yield built.number, graph, calls


def _by_input(calls: list[LayerCall]) -> list[list[LayerCall]]:
    """Those on the very same tensors and variables, without random numbers."""
    found: dict[int, list[LayerCall]] = {}
    for call in calls:
        found.setdefault(call.inputs, []).append(call)
    return [each for each in found.values() if len(each) > 1 and _same_input(each)]


def _same_input(calls: list[LayerCall]) -> bool:
    return len({call.inputs for call in calls}) == 1 and not any(call.random for call in calls)


def _for_updates(calls: list[LayerCall], updates: int) -> bool:
    """One pass for each of several optimizers. Several passes for one of them are several updates: needed."""
    disjoint = all(not a.serves & b.serves for i, a in enumerate(calls) for b in calls[i + 1 :])
    return disjoint and any(call.serves for call in calls) and len(calls) <= updates.bit_count()


def _calling(graphs: TracedGraphs, graph: TracedGraph, call: LayerCall) -> list[Node]:
    """The line at which a compiled function is called; none for a layer, which has no operation of its own."""
    if graphs.layers[call.layer].kind != "tf.function" or call.scope not in graph.operations:
        return []
    stack = graph.stacks[graph.operations.index(call.scope)]
    frames = [graphs.frames[item] for item in graphs.stacks[stack] if item != LAYER_CALL] if stack >= 0 else []
    return [Node("line", frames[-1][2], graphs.files[frames[-1][0]], frames[-1][1])] if frames else []


def _forward(
    function: FunctionTime, number: int, graph: TracedGraph, call: LayerCall
) -> tuple[float, list[Node], list[Node]]:
    """The forward time of a call, the user's line that makes it, and the line of the traced function above."""
    wall = 0.0
    lines: dict[Node, None] = {}
    above: dict[Node, None] = {}
    for (built, _, name), (spent, origin) in function.operations.items():
        if built != number or origin.stage != FORWARD or not _is_in(name, call.scope):
            continue
        wall += spent
        way = list(itertools.takewhile(lambda node: node.kind == "line", origin.path))
        if way:
            lines[way[-1]] = above[way[0]] = None
    return wall, list(lines), list(above)


def _is_in(name: str, scope: str) -> bool:
    """The runtime inlines a called function, and then puts the call's name before its operations: for Keras' steps,
    say, ``StatefulPartitionedCall/generator/Conv2D``."""
    return name.startswith(f"{scope}/") or _CALLS.sub("", name).startswith(f"{scope}/")


def beside(function: FunctionTime, to_ms: float) -> tuple[BesideTime, ...]:
    """Metrics and summaries, by the innermost line above them, the costliest first."""
    spent: dict[tuple[str, Node | None], float] = {}

    def visit(branch: Branch, line: Node | None) -> None:
        line = branch.node if branch.node.kind == "line" and branch.node.line else line
        if branch.node.kind == "part" and branch.node.name in _BESIDE:
            key = (branch.node.name, line)
            spent[key] = spent.get(key, 0.0) + branch.total
            return
        for inner in branch.branches.values():
            visit(inner, line)

    visit(function.root, None)
    rows = (
        BesideTime(part=part, ms=wall * to_ms, where=_span(line) if line is not None else None)
        for (part, line), wall in spent.items()
    )
    return tuple(sorted(rows, key=lambda row: -row.ms))
