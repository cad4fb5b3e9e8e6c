"""The compiled functions of a run with their graphs, as the rules about graphs ask for them.

A probe offers them: ``evidence.offer(RecordedGraphs)``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from tfperfkit.graph.costs import cost, moved
from tfperfkit.graph.facts import bodies_of_loops, of_values, staying
from tfperfkit.graph.given import Given, empty_arguments, given
from tfperfkit.graph.model import Graph
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import walk
from tfperfkit.records.graph_contents import CallsRecord

T = TypeVar("T")
#: Graphs with more operations than this are not looked at.
MAX_OPERATIONS = 100_000
#: A loop counts so many iterations if their number is not known, where only sizes tell what a part of it takes.
UNKNOWN_ITERATIONS = 16


class Body(NamedTuple):
    """A graph of a function, its own or one that it calls. ``times``: how often it runs in one call of the function."""

    view: View
    times: float


class CalledFunction(NamedTuple):
    """A trace of a compiled function, and the variables that it changes, or may change, by their keys.

    ``file``, ``line``: of the user's call that traced it, "" and 0 if not known. ``object``: the same for all traces of
    one function. ``first_ns``: when it ran first; None if only other graphs call it. ``once``: it surely
    ran once. ``nested``: traced within another.
    """

    graph: str
    function: str
    file: str
    line: int
    object: int
    first_ns: int | None
    once: bool
    nested: bool
    writes: frozenset[str]


class RecordedFunction:
    """A compiled function as it was called.

    ``open_size`` stands for open leading dimensions. ``unchanged``: the placeholders of variables that nothing changes;
    ``idle``: of those that nothing but training changes. ``calls``: what its arguments were in the first calls.
    ``shapes``: of the arguments with open sizes, in the first call. ``variables``: their keys by their placeholders.
    """

    def __init__(
        self,
        graph: Graph,
        open_size: int | None = None,
        unchanged: frozenset[str] = frozenset(),
        idle: frozenset[str] = frozenset(),
        calls: CallsRecord | None = None,
        shapes: Mapping[str, tuple[int, ...]] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.graph = graph
        self.open_size = open_size
        self.unchanged = unchanged
        self.idle = idle
        self.calls = calls
        self.shapes = shapes
        self.variables = variables or {}

    def among(self, functions: Iterable[CalledFunction]) -> RecordedFunction:
        """Return the function where only these ran: more of its variables may be unchanged. Itself, if none is."""
        written = frozenset[str]().union(*(each.writes for each in functions))
        here = frozenset(name for name, key in self.variables.items() if key not in written)
        if "" in written or here <= self.unchanged:
            return self
        unchanged, idle = self.unchanged | here, self.idle | here
        return RecordedFunction(
            self.graph, self.open_size, unchanged, idle, self.calls, self.shapes, variables=self.variables
        )

    @cached_property
    def _run(self) -> tuple[dict[str, tuple[Graph, float]], float, float]:
        """By name the graphs that a call runs, each with how often; the FLOPs and the bytes of a call."""
        times: dict[str, float] = defaultdict(float)
        graphs = {self.graph.name: self.graph}
        flops = bytes_ = 0.0
        for visit in walk(self.graph, self.open_size):
            runs = visit.times if visit.exact else visit.times * UNKNOWN_ITERATIONS
            graphs.setdefault(visit.graph.name, visit.graph)
            times[visit.graph.name] = max(times[visit.graph.name], runs)
            flops += runs * (cost(visit.graph, visit.node, self.open_size) or 0.0)
            bytes_ += runs * moved(visit.graph, visit.node, self.open_size)
        return {name: (graph, times[name]) for name, graph in graphs.items()}, flops, bytes_

    @property
    def flops(self) -> float:
        """FLOPs of a call, as far as sizes tell."""
        return self._run[1]

    @property
    def bytes(self) -> float:
        """Bytes that the operations of a call read and write, as far as sizes tell."""
        return self._run[2]

    @cached_property
    def bodies(self) -> list[Body]:
        """Return the graphs that a call runs, but the largest ones, with what is known of their tensors."""
        same = staying(self.graph, self.unchanged)
        at_rest = staying(self.graph, self.unchanged | self.idle)
        arguments = given(self.graph, self.calls, UNKNOWN_ITERATIONS)
        handed = empty_arguments(self.graph, self.calls)
        empty = of_values(self.graph, lambda graph: {**graph.record.zeros, **(handed if graph is self.graph else {})})
        products = of_values(self.graph, lambda graph: dict.fromkeys(graph.record.separable, True))
        looping = bodies_of_loops(self.graph)
        found = []
        for name, (graph, times) in self._run[0].items():
            if len(graph.nodes) > MAX_OPERATIONS:
                continue
            view = View(
                graph,
                self.open_size,
                same.get(name, frozenset()),
                in_loop=name in looping,
                zeros=empty.get(name),
                separable=frozenset(products.get(name, ())),
                given=arguments.get(name, Given()),
                idle=at_rest.get(name, frozenset()),
                arguments=self.shapes if graph is self.graph else None,
            )
            found.append(Body(view, times))
        return found


class RecordedGraphs:
    """The functions of a run by the names of their graphs. ``called``: all of their traces.

    Results of rules are kept, for rules are asked of the run and of each work.
    """

    def __init__(self, functions: Mapping[str, RecordedFunction], called: Iterable[CalledFunction] = ()) -> None:
        self.functions = functions
        self.called = tuple(called)
        self.found: dict[tuple[str, str], list[Any]] = {}
        self._run: RecordedGraphs | None = None
        self._among: dict[frozenset[str], RecordedGraphs] = {}

    def among(self, names: frozenset[str]) -> RecordedGraphs:
        """Return the functions where only the graphs of these names ran: what no other function changes stays."""
        if names not in self._among:
            ran = [each for each in self.called if each.graph in names]
            made = RecordedGraphs({name: each.among(ran) for name, each in self.functions.items()}, self.called)
            made._run = self
            self._among[names] = made
        return self._among[names]

    def is_wider(self, name: str) -> bool:
        """Return whether more variables of a function stay than in the whole run."""
        return self._run is not None and self.functions.get(name) is not self._run.functions.get(name)

    def once(self, key: str, name: str, find: Callable[[RecordedFunction], Iterable[T]]) -> list[T]:
        """Return the result of ``find`` for the function of this name, computed once for each ``key``."""
        if self._run is not None and not self.is_wider(name):
            return self._run.once(key, name, find)
        known = self.found.get((key, name))
        if known is None:
            function = self.functions.get(name)
            known = self.found[key, name] = list(find(function)) if function is not None else []
        return known
