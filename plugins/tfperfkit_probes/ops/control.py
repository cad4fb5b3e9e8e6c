"""The fate of each ``if``, ``for`` and ``while`` of the source: an operation, copies of its body, or nothing."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Iterable

from msgspec.structs import replace

from tfperfkit.graph import optable
from tfperfkit.graph.model import Graph, Node
from tfperfkit.graph.walk import BRANCHES, LOOPS
from tfperfkit.syntax.control_statements import ControlStatement, find_control_statements
from tfperfkit_probes.ops.apart import apart
from tfperfkit_probes.ops.model import Control, SideEffect
from tfperfkit_probes.ops.source import Sources, side_effects

_LOOP_OPS = LOOPS | {"ReduceDataset", "ScanDataset"}
_NOT_COUNTED = optable.names(kind=("constant", "placeholder", "noop", "pass", "read"))
#: A body whose copies work on so many different variables each loops over layers or weights, not over data.
_PER_VARIABLE = 0.5


@dataclasses.dataclass
class _Line:
    """Operations that a line of the source made, itself or through what it calls."""

    ops: int = 0
    backward: int = 0
    forward: Counter[tuple[str, int, str]] = dataclasses.field(default_factory=Counter)
    kinds: set[str] = dataclasses.field(default_factory=set)  # made by this very line
    resources: set[str] = dataclasses.field(default_factory=set)
    nodes: list[tuple[Graph, Node]] = dataclasses.field(default_factory=list)  # the forward ones


@dataclasses.dataclass
class _File:
    """A file's lines, and the order in which they made forward operations, a line's in a row once."""

    lines: dict[int, _Line] = dataclasses.field(default_factory=lambda: defaultdict(_Line))
    order: dict[str, list[int]] = dataclasses.field(default_factory=lambda: defaultdict(list))  # by function


def control_and_effects(
    graphs: Iterable[Graph], sources: Sources, own: tuple[str, int] | None, outside: set[tuple[str, int]]
) -> tuple[list[Control], list[SideEffect]]:
    """For all functions of the user's that the operations come from.

    ``graphs``: the function's and its bodies. ``own``: file and line of the traced function. ``outside``: the lines
    that called it.
    """
    files = _files(graphs, outside)
    if own is not None:
        files[own[0]].lines.setdefault(own[1], _Line())
    controls: list[Control] = []
    effects: list[SideEffect] = []
    for name, file in sorted(files.items()):
        source = sources.parse_file(name)
        if source is None:
            continue
        found = {
            each.first: each for line in list(file.lines) if (each := source.syntax.find_definition(line)) is not None
        }
        for _, function in sorted(found.items()):
            controls += [_judge(name, each, file) for each in find_control_statements(function)]
            effects += side_effects(function, name, source)
    return controls, effects


def _files(graphs: Iterable[Graph], outside: set[tuple[str, int]]) -> dict[str, _File]:
    files: dict[str, _File] = defaultdict(_File)
    for graph in graphs:
        for node in graph.nodes.values():
            backward = node.backward
            counted = node.type not in _NOT_COUNTED and not backward
            resources = list(_resources(graph, node))
            seen = set(outside)  # a comprehension has a frame of its own on the line
            for number, (name, line, function) in enumerate(node.stack):
                if (name, line) in seen:
                    continue
                seen.add((name, line))
                file = files[name]
                entry = file.lines[line]
                entry.ops += 1
                entry.backward += backward
                entry.resources.update(resources)
                if number == 0:
                    entry.kinds.add(node.type)
                if counted:
                    # It counts for the line it came from and, told apart by that, for the lines that called it.
                    entry.forward[node.type, node.stack[0][1], node.stack[0][0]] += 1
                    entry.nodes.append((graph, node))
                    order = file.order[function]
                    if not order or order[-1] != line:
                        order.append(line)
    return files


def _resources(graph: Graph, node: Node) -> Iterable[str]:
    for owner, _ in node.inputs:
        made = graph.nodes.get(owner)
        if made is not None and made.type == "Placeholder" and made.outputs and made.outputs[0].dtype == "resource":
            yield f"{graph.name}/{owner}"


def _judge(name: str, statement: ControlStatement, file: _File) -> Control:
    head = file.lines.get(statement.line)
    wanted = _LOOP_OPS if statement.is_loop else BRANCHES
    made = sorted(head.kinds & wanted) if head is not None else []
    numbers = [line for line in range(statement.first, statement.last + 1) if line in file.lines]
    body = [file.lines[line] for line in numbers]
    ops = sum(line.ops for line in body)
    blank = Control(
        file=name, line=statement.line, statement=statement.word, function=statement.function, became="none", ops=ops
    )
    if made:
        return replace(blank, became="graph", op=made[0])
    if not ops:
        return blank
    copies = _copies(numbers, file) if statement.is_loop else 1
    if copies <= 1:
        return replace(blank, became="python", copies=copies)
    resources: set[str] = set().union(*(line.resources for line in body))
    found = {(graph.name, node.name): (graph, node) for line in body for graph, node in line.nodes}
    return replace(
        blank,
        became="unrolled",
        copies=copies,
        per_variable=len(resources) >= copies * _PER_VARIABLE,
        apart=apart(list(found.values()), copies),
        last=statement.last,
    )


def _copies(numbers: list[int], file: _File) -> int:
    """Count the copies of a loop's body in the graph; 0 if its operations don't show them.

    A body of several lines: how often its first line made operations after a later one. Of one line: what divides the
    numbers of its operations of each type.
    """
    made = {line: file.lines[line] for line in numbers}
    forward = [line for line, each in made.items() if each.forward and 2 * each.backward <= each.ops]
    if not forward:
        return 0
    first, last = forward[0], forward[-1]
    if first == last:
        return math.gcd(*file.lines[first].forward.values())
    iterations = 0
    for order in file.order.values():
        inside = [line for line in order if first <= line <= last]
        if first not in inside:
            continue
        begins = sum(now == first and before > first for before, now in zip(inside, inside[1:], strict=False))
        ends = sum(before == last and now < last for before, now in zip(inside, inside[1:], strict=False))
        iterations = max(iterations, 1 + min(begins, ends))
    return iterations
