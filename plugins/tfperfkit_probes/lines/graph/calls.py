"""The first of a function's own frames on the stacks of its operations.

A function is traced once, wherever it is called first, and its operations keep that call's frames; the frames of the
call at hand are those of the operation that calls. Frames that both share must not be shown twice, nor for the other.
"""

from __future__ import annotations

import itertools
import re

from tfperfkit.graph.traced import TracedGraphs
from tfperfkit.records.graph_contents import LAYER_CALL

#: An operation, seen through the functions that lead to it: (graph, operation) from the root inwards.
Chain = tuple[tuple[int, int], ...]
#: Maximum number of distinct call paths to one function, and their maximum depth.
_MAX_WAYS, _MAX_DEPTH = 8, 8
_FUNCTION_NAME = re.compile(r"^(?:__(?:inference|forward|backward)_)+(?P<name>.*?)(?:_\d+)*$")


def base_name(function: str) -> str:
    """The Python function's name in the runtime's: ``__backward_step_12`` gives ``step``."""
    match = _FUNCTION_NAME.match(function)
    return match["name"] if match else function


class Calls:
    """The operations that call each graph, and how deep on its stacks the calls that lead there stand."""

    def __init__(self, graphs: TracedGraphs) -> None:
        self._graphs = graphs
        self._functions = {number for name, number in graphs.functions.items() if name.startswith("__")}
        self._callers: dict[int, list[tuple[int, int]]] = {}
        for graph in graphs.graphs:
            for operation in graph.calls:
                for called in self.list_called(graph.id, operation):
                    self._callers.setdefault(called, []).append((graph.id, operation))
        self._depths: dict[int, int | None] = {}
        self._entered: set[int] = set()

    def is_function(self, graph: int) -> bool:
        """Whether it is a function's, not the body of a loop or a condition."""
        return graph in self._functions

    def list_called(self, graph: int, operation: int) -> tuple[int, ...]:
        """The graphs that an operation calls."""
        numbers = (self._graphs.functions.get(name) for name in self._graphs.graphs[graph].calls.get(operation, ()))
        return tuple(number for number in numbers if number is not None)

    def callers(self, graph: int) -> list[tuple[int, int]]:
        """The operations that call a graph: (graph, operation)."""
        return self._callers.get(graph, [])

    def ways(self, root: int, graph: int, depth: int = 0) -> tuple[Chain, ...]:
        """The calls that lead from one graph to another, by each way; no more than eight."""
        if root == graph:
            return ((),)
        if depth >= _MAX_DEPTH:
            return ()
        found = (
            (*way, (other, operation))
            for other, operation in self.callers(graph)
            if other != graph
            for way in self.ways(root, other, depth + 1)
        )
        return tuple(itertools.islice(found, _MAX_WAYS))

    def depth(self, graph: int) -> int | None:
        """How many items of its stacks lead to the call of a graph's function; None if it is unknown."""
        if graph not in self._depths:
            self._depths[graph] = None  # a graph that leads back to itself has none
            self._depths[graph] = self._depth(graph)
        return self._depths[graph]

    def entered(self, graph: int) -> bool:
        """Whether the operation that called it stood above it when it was traced: its frames are another function's.

        The body of a loop over a dataset is a function to TensorFlow too, and has its own function's frames.
        """
        self.depth(graph)
        return graph in self._entered

    def _depth(self, graph: int) -> int | None:
        callers = self.callers(graph)
        if not self.is_function(graph):
            if callers and self.entered(callers[0][0]):
                self._entered.add(graph)
            return self.depth(callers[0][0]) if callers else None
        row, stacks = self._graphs.graphs[graph], self._graphs.stacks
        own = [stacks[number] for number in dict.fromkeys(row.stacks) if number >= 0]
        if not own:
            return None
        common = _common(own)
        traced_from = -1
        for other, operation in callers:
            number = self._graphs.graphs[other].stacks[operation]
            if number >= 0 and common[: len(stacks[number])] == stacks[number]:
                traced_from = max(traced_from, len(stacks[number]))
        if traced_from < 0:
            return self._by_name(own, common, base_name(row.name))
        self._entered.add(graph)
        return traced_from

    def _by_name(self, own: list[list[int]], common: list[int], name: str) -> int | None:
        """It was traced before, from a call that is not in these graphs: its own frame goes by its name."""
        if all(len(stack) > len(common) and self._get_function_name(stack[len(common)]) == name for stack in own):
            return len(common)
        return next(
            (index for index in reversed(range(len(common))) if self._get_function_name(common[index]) == name), None
        )

    def _get_function_name(self, item: int) -> str:
        return "" if item == LAYER_CALL else self._graphs.frames[item][2]


def _common(stacks: list[list[int]]) -> list[int]:
    """The items with which all begin."""
    first, last = min(stacks), max(stacks)
    for index, (a, b) in enumerate(zip(first, last, strict=False)):
        if a != b:
            return first[:index]
    return first[: min(len(first), len(last))]
