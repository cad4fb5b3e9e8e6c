"""What became of each ``if``, ``for`` and ``while`` of the source: an operation, copies of its body, or nothing."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable

from msgspec.structs import replace

from tfperfkit_probes.ops_graph import Graph, Node
from tfperfkit_probes.ops_model import Control, SideEffect
from tfperfkit_probes.ops_source import Sources, Statement, side_effects, statements
from tfperfkit_probes.ops_summary import is_backward
from tfperfkit_probes.ops_walk import BRANCHES, LOOPS

_LOOP_OPS = LOOPS | {"ReduceDataset", "ScanDataset"}
_NOT_COUNTED = frozenset({"Const", "Placeholder", "NoOp", "Identity", "ReadVariableOp"})
#: A body whose copies work on so many different variables each loops over layers or weights, not over data.
_PER_VARIABLE = 0.5


@dataclasses.dataclass
class _Line:
    """Operations that a line of the source made, itself or through what it calls."""

    ops: int = 0
    forward: Counter[tuple[str, int, str]] = dataclasses.field(default_factory=Counter)
    kinds: set[str] = dataclasses.field(default_factory=set)  # made by this very line
    resources: set[str] = dataclasses.field(default_factory=set)


_Lines = dict[str, dict[int, _Line]]


def control_and_effects(
    graphs: Iterable[Graph], sources: Sources, own: tuple[str, int] | None, outside: set[tuple[str, int]]
) -> tuple[list[Control], list[SideEffect]]:
    """For all functions of the person's that the operations come from.

    ``graphs``: the function's and its bodies. ``own``: file and line of the traced function. ``outside``: the lines
    that called it.
    """
    lines, functions = _lines(graphs, outside)
    if own is not None:
        functions.setdefault(own[0], set()).add(own[1])
    controls: list[Control] = []
    effects: list[SideEffect] = []
    for file, places in sorted(functions.items()):
        source = sources.of(file)
        if source is None:
            continue
        found = {each[0]: each for line in places if (each := source.function_at(line)) is not None}
        for _, function in sorted(found.items()):
            if function[2] == "<module>":
                continue
            controls += [_judge(file, each, lines.get(file, {})) for each in statements(function)]
            effects += side_effects(function, file, source.lines)
    return controls, effects


def _lines(graphs: Iterable[Graph], outside: set[tuple[str, int]]) -> tuple[_Lines, dict[str, set[int]]]:
    """file -> line -> what it made; file -> lines inside the traced functions."""
    lines: _Lines = defaultdict(lambda: defaultdict(_Line))
    functions: dict[str, set[int]] = defaultdict(set)
    for graph in graphs:
        for node in graph.nodes.values():
            counted = node.type not in _NOT_COUNTED and not is_backward(node, graph.name)
            resources = list(_resources(graph, node))
            for number, (file, line, _) in enumerate(node.stack):
                if (file, line) in outside:
                    continue
                functions[file].add(line)
                entry = lines[file][line]
                entry.ops += 1
                entry.resources.update(resources)
                if number == 0:
                    entry.kinds.add(node.type)
                if counted:
                    # It counts for the line it came from and, told apart by that, for the lines that called it.
                    entry.forward[node.type, node.stack[0][1], node.stack[0][0]] += 1
    return lines, functions


def _resources(graph: Graph, node: Node) -> Iterable[str]:
    for owner, _ in node.inputs:
        made = graph.nodes.get(owner)
        if made is not None and made.type == "Placeholder" and made.outputs and made.outputs[0].dtype == "resource":
            yield f"{graph.name}/{owner}"


def _judge(file: str, statement: Statement, lines: dict[int, _Line]) -> Control:
    head = lines.get(statement.line)
    wanted = _LOOP_OPS if statement.is_loop else BRANCHES
    made = sorted(head.kinds & wanted) if head is not None else []
    body = [lines[line] for line in range(statement.first, statement.last + 1) if line in lines]
    ops = sum(line.ops for line in body)
    resources = set().union(*(line.resources for line in body)) if body else set()
    blank = Control(
        file=file, line=statement.line, statement=statement.word, function=statement.function, became="none", ops=ops
    )
    if made:
        return replace(blank, became="graph", op=made[0])
    if not body:
        return blank
    copies = max((_copies(line) for line in body), default=0) if statement.is_loop else 1
    if copies <= 1:
        return replace(blank, became="python", copies=copies)
    per_variable = len(resources) >= copies * _PER_VARIABLE
    return replace(blank, became="unrolled", copies=copies, per_variable=per_variable)


def _copies(line: _Line) -> int:
    """How often a line's operations stand in the graph: the count that most of them share, the smallest if tied."""
    if not line.forward:
        return 0
    counts = Counter(line.forward.values())
    return min(counts, key=lambda count: (-counts[count], count))
