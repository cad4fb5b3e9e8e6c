"""Dataflow facts about the tensors of a graph, through its function calls, its loops and its branches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tfperfkit.graph import optable
from tfperfkit.graph.costs import cost, moved
from tfperfkit.graph.interpret import Flowed, interpret
from tfperfkit.graph.iterations import iterations_of
from tfperfkit.graph.model import Node
from tfperfkit.graph.rows import FIXED, MIXED, RowAnalysis, Rows
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import LOOPS

_HANDLES = ("resource", "variant", "")


class SameAnalysis:
    """An analysis for ``interpret``: whether a tensor is the same each time. Nothing is known of what may vary."""

    unknown = False

    def join(self, one: bool, other: bool) -> bool:
        """Both must be the same each time."""
        return one and other

    def chosen(self, condition: bool, branches: bool) -> bool:
        """The same branch is taken, or as many iterations are made, each time."""
        return condition and branches

    def operation(self, view: View, node: Node, inputs: Sequence[bool]) -> Sequence[bool]:
        """Return the same of the same, but for what draws random numbers, reads files, calls Python or writes."""
        return (all(inputs) and not optable.row(node.type).varies,)


@dataclass
class Following:
    """Operations, those in the bodies of loops and calls among them; of these the FLOPs and bytes of a call, as far as
    sizes tell."""

    nodes: list[Node] = field(default_factory=list)
    flops: float = 0.0
    bytes: float = 0.0


def _collect(flowed: Flowed[Rows], found: Following, times: float, depth: int = 0) -> None:
    view = flowed.view
    for node in view.forward:
        states = (flowed.states.get((node.name, output), MIXED) for output in range(len(node.outputs)))
        if node.type != "Placeholder" and any(state.axis is not None and state.uniform for state in states):
            found.nodes.append(node)
            if depth:
                found.flops += times * (cost(view.graph, node, view.open_size) or 0.0)
                found.bytes += times * moved(view.graph, node, view.open_size)
        for inside in flowed.bodies.get(node.name, ()):
            often = iterations_of(view.graph, node) or 1 if node.type in LOOPS else 1
            _collect(inside, found, times * often, depth + 1)


class Flow:
    """Queries on one view. An answer of False, or None, says that it is not known."""

    def __init__(self, view: View) -> None:
        self._view = view

    def same(self, given: Iterable[str]) -> Flowed[bool]:
        """Which tensors are the same each time, if these placeholders are. Variables are given by their handles."""
        return interpret(SameAnalysis(), self._view, dict.fromkeys(given, True))

    def same_names(self, given: Iterable[str]) -> frozenset[str]:
        """Return the operations all of whose outputs are the same each time, if these placeholders are."""
        states = self.same(given).states
        varying = {name for (name, _), same in states.items() if not same}
        return frozenset(name for name, _ in states if name not in varying)

    def rows(self, sources: Mapping[tuple[str, int], int]) -> Flowed[Rows]:
        """Follow the rows of some tensors through all tensors that depend on them.

        ``sources``: tensors, each with the axis of its rows; all have the same rows. Other inputs of the graph have no
        rows.
        """
        starts = {owner: Rows(axis=axis) for owner, axis in sources.items()}
        record = self._view.graph.record
        return interpret(RowAnalysis(), self._view, dict.fromkeys((*record.arguments, *record.captures), FIXED), starts)

    def following(self, start: Node) -> Following:
        """Find the operations that follow from a tensor, row by row of its first axis and each row treated alike."""
        found = Following()
        _collect(self.rows({(start.name, 0): 0}), found, 1.0)
        return found

    def independent_rows(self, name: str, rows: int, output: int = 0) -> bool:
        """Return whether the first axis of a tensor has a row for each of so many rows of the arguments, made of it
        alone.

        An argument whose first axis has another size may have anything to do with any row.
        """
        graph = self._view.graph
        starts: dict[tuple[str, int], Rows] = {}
        for argument in graph.record.arguments:
            if graph.type_of(argument).dtype not in _HANDLES:
                shape = self._view.shape(argument)
                starts[argument, 0] = Rows(axis=0) if shape and shape[0] == rows else MIXED
        captures = dict.fromkeys((*graph.record.arguments, *graph.record.captures), FIXED)
        found = interpret(RowAnalysis(), self._view, captures, starts).states.get((name, output), MIXED)
        return found.follows and found.axis == 0 and found.block == 1
