"""From the name that an operation runs under to the operation that was built.

Between the two lie the inlining of functions (``StatefulPartitionedCall/MatMul``), the lowering of loops and
conditions (``while/body/_7/while/MatMul``) and Grappler, which renames what it folds, fuses, moves and splits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfperfkit.graph.traced import TracedGraph, TracedGraphs
from tfperfkit_probes.lines.graph.calls import Calls, Chain

_LOWERED = re.compile(r"^(?:body|cond|then|else|branch_?\d*)/_\d+/")
_INLINED_EDGE = re.compile(r"^Func/(?P<caller>.+)/(?:input|output|input_control_node|output_control_node)/_\d+$")
_PREFIXES = re.compile(
    r"^(?:ConstantFolding|ArithmeticOptimizer|LoopOptimizer|DependencyOptimizer|ShapeOptimizer|Remapper)/"
)
#: A new operation of Grappler's is in the scope of the operation that it replaces.
_IN_SCOPE = re.compile(r"^(?P<scope>.+/)(?:ArithmeticOptimizer|Remapper)/(?:[A-Z][A-Za-z0-9]*_)(?P<name>[^/]+)$")
_REWRITE = re.compile(r"^[A-Z][A-Za-z0-9]*_")
_SUFFIXES = re.compile(
    r"(?:-folded(?:-\d+)*|_unary_ops_composition|(?:-\d+)+-[A-Za-z0-9]+-(?:LayoutOptimizer|AutoMixedPrecision)"
    r"|-(?:reduction_indices|reduce_axis)|_const_axis|_matrix_diag|_mkl\w*|_eightbit\w*|/_\d+|_\d+__cf__\d+|__cf__\d+"
    r"|_recip|-axis|-concat_dim)$"
)
_DEPTH = 12


class Locator:
    """Looks up names in the graphs of one trace."""

    def __init__(self, graphs: TracedGraphs, calls: Calls | None = None) -> None:
        self._graphs = graphs
        self.calls = calls or Calls(graphs)
        self._names: dict[int, dict[str, int]] = {}
        self._scopes: dict[int, dict[str, int]] = {}

    def index(self, graph: int, name: str) -> int | None:
        """The number of an operation by its exact name."""
        return self._known(graph).get(name)

    def find(self, root: int, name: str) -> Chain | None:
        """The first of ``find_all``; None if nothing is like the name."""
        return next(iter(self.find_all(root, name)), None)

    def find_all(self, root: int, name: str) -> list[Chain]:
        """The operation that runs under ``name`` in a function or in one that it calls, by each way that leads there.

        A name identifies the call path, unless a function is executed by itself: then there is one path for each call.
        An operation whose name leads nowhere is assigned to the loop or call whose lowering added it, else to its
        scope.
        """
        spellings = list(_spellings(name))
        reached = list(self._reached(root))
        for spelling in spellings:
            for path, graph in reached:
                chain = self._descend(graph, spelling, 0)
                if chain is not None:
                    ways = self.calls.ways(root, graph) if path else ()
                    return [(*way, *chain) for way in ways or (path,)]
        for look in (self._calling, self._in_scope):
            for spelling in spellings:
                near = look(root, spelling)
                if near is not None:
                    return [((root, near),)]
        return []

    def _reached(self, root: int) -> Iterator[tuple[Chain, int]]:
        """All functions that are called, with the way there: executions of their own carry no caller's prefix."""
        seen = {root}
        pending: list[tuple[Chain, int]] = [((), root)]
        while pending:
            path, graph = pending.pop(0)
            yield path, graph
            for operation, called in self._list_calls(graph):
                if called not in seen:
                    seen.add(called)
                    pending.append(((*path, (graph, operation)), called))

    def near(self, graph: int, name: str) -> int | None:
        """Find an operation with a known origin in the innermost scope around ``name``."""
        return self._scopes_of(graph).get(name.rpartition("/")[0]) if "/" in name else None

    def _list_calls(self, graph: int) -> Iterator[tuple[int, int]]:
        for operation, functions in self._graphs.graphs[graph].calls.items():
            for function in functions:
                called = self._graphs.functions.get(function)
                if called is not None:
                    yield operation, called

    def _descend(self, graph: int, name: str, depth: int) -> Chain | None:
        known = self._known(graph)
        exact = known.get(name)
        if exact is not None:
            return ((graph, exact),)
        if depth > _DEPTH:
            return None
        prefix = name
        while "/" in prefix:
            prefix = prefix.rpartition("/")[0]
            operation = known.get(prefix)
            if operation is None:
                continue
            inside = _LOWERED.sub("", name[len(prefix) + 1 :])
            for function in self._graphs.graphs[graph].calls.get(operation, ()):
                called = self._graphs.functions.get(function)
                if called is None:
                    continue
                # A loop's body is built under the loop's own name scope: "while/MatMul".
                found = self._descend(called, inside, depth + 1) or self._exact(called, name)
                if found is not None:
                    return ((graph, operation), *found)
        return None

    def _calling(self, graph: int, name: str) -> int | None:
        """The loop, condition or call below whose name another stands: its counters and switches."""
        known, calls = self._known(graph), self._graphs.graphs[graph].calls
        while "/" in name:
            name = name.rpartition("/")[0]
            operation = known.get(name)
            if operation is not None and operation in calls:
                return operation
        return None

    def _exact(self, graph: int, name: str) -> Chain | None:
        index = self._known(graph).get(name)
        return ((graph, index),) if index is not None else None

    def _in_scope(self, graph: int, name: str) -> int | None:
        """Find an operation of the innermost scope that the name shares with any: Grappler makes new ones in place."""
        known, scopes = self._known(graph), self._scopes_of(graph)
        while name:
            if name in known:
                return known[name]
            if name in scopes:
                return scopes[name]
            name = name.rpartition("/")[0]
        return None

    def _known(self, graph: int) -> dict[str, int]:
        names = self._names.get(graph)
        if names is None:
            operations = self._graphs.graphs[graph].operations
            names = self._names[graph] = {name: index for index, name in enumerate(operations)}
        return names

    def _scopes_of(self, graph: int) -> dict[str, int]:
        scopes = self._scopes.get(graph)
        if scopes is None:
            scopes = self._scopes[graph] = {}
            row: TracedGraph = self._graphs.graphs[graph]
            for index, name in enumerate(row.operations):
                if row.stacks[index] < 0 and index not in row.forward:
                    continue
                scope = name.rpartition("/")[0]
                while scope and scope not in scopes:
                    scopes[scope] = index
                    scope = scope.rpartition("/")[0]
        return scopes


def _spellings(name: str) -> Iterator[str]:
    """The name, and what it may have been before Grappler."""
    yield name
    if match := _INLINED_EDGE.match(name):
        yield match["caller"]
    if match := _IN_SCOPE.match(name):
        yield f"{match['scope']}{match['name']}"
    shorter, made = name, False
    for _ in range(8):
        trimmed = _SUFFIXES.sub("", shorter)
        if trimmed == shorter:
            trimmed = _PREFIXES.sub("", shorter, count=1)
            made = made or trimmed != shorter
        if trimmed == shorter and made:
            trimmed = _REWRITE.sub("", shorter, count=1)  # "ReplacePackWithTileReshape_Tile_stack"
        if trimmed == shorter or not trimmed:
            return
        shorter = trimmed
        yield shorter
