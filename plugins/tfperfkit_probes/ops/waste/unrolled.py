"""The same product of the same tensors many times in one graph, as a Python loop leaves it in each of its turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.optable import is_heavy
from tfperfkit.graph.view import View
from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.model import Wasted

KIND = "unrolled"
#: Of fewer it is told as a forward pass that runs twice.
_MIN_TIMES = 4


def unrolled(view: View) -> Iterator[Wasted]:
    """By line: products and the like of which four or more are made there of the very same tensors, and what is made
    of these and of constants alone. One graph makes the same of the same, unless random numbers or an assigned
    variable are among it."""
    heavy = _made_often(view, [node for node in view.forward if is_heavy(node.type)], _MIN_TIMES)
    lines: dict[SourceSpan, list[list[Node]]] = defaultdict(list)
    for line, nodes in heavy:
        lines[line].append(nodes)
    if not lines:
        return
    every = [node for node in view.forward if node.inputs and not node.type.startswith("ReadVariable")]
    follows = _made_often(view, every, _MIN_TIMES)
    for line, groups in lines.items():
        times = min(len(nodes) for nodes in groups)
        made = [nodes for place, nodes in follows if place == line and len(nodes) >= times]
        yield Wasted(
            kind=KIND,
            where=line,
            places=[line, *(SourceSpan(*frame) for frame in groups[0][0].stack[1:])],
            operations=[node.name for nodes in made for node in nodes],
            left=1 / times,
            figures={"times": times, "products": sum(len(nodes) for nodes in groups)},
        )


def _made_often(view: View, nodes: list[Node], least: int) -> list[tuple[SourceSpan, list[Node]]]:
    """Those that are made so often at one line, with it."""
    found: dict[tuple[object, SourceSpan], list[Node]] = defaultdict(list)
    for node in nodes:
        if node.place is not None:
            found[view.alike.key((node.name, 0)), node.place].append(node)
    return [(line, alike) for (_, line), alike in found.items() if len(alike) >= least]
