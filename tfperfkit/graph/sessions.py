"""Runs of TensorFlow 1 sessions: their computations, and which runs compute the same part of a graph from the same
values.

A run computes all operations that lead to its fetches, up to what it is fed. So if two runs are fed the same values and
both lead through the same layers, one run that fetches both computes these layers once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit.graph.costs import cost
from tfperfkit.graph.model import Graph
from tfperfkit.graph.walk import varies
from tfperfkit.records.graph_contents import SessionRun

#: The name of the functions that stand for what runs compute.
RUN = "session.run"
#: Stands for open sizes of the batch: only shares of FLOPs are asked for.
_OPEN_SIZE = 32
#: So often runs must follow each other with the same values: once may be a test before the loop.
_MIN_ITERATIONS = 3
#: Operations that give another value each time, but may as well be asked once for several fetches.
_MAY_BE_SHARED = frozenset({*optable.DRAWING, "variable"})


class Asked(NamedTuple):
    """Fetches at a line of the user's: the names of operations."""

    file: str
    line: int
    fetched: tuple[str, ...]


class Request(NamedTuple):
    """Runs at some lines that fetch the same of a session's graph. ``graph``: the part of it that leads to this.
    ``shapes``: of what they are fed, in the order of its arguments, as far as they are known."""

    graph: Graph
    places: tuple[tuple[str, int], ...]
    shapes: tuple[tuple[int, ...] | None, ...]


class Fetch(NamedTuple):
    """A run that comes again and again. ``begins``: when it began next to others, in ns; ``needed``: the operations
    that it computes; ``writes``: those of them that write variables."""

    asked: Asked
    begins: tuple[int, ...]
    needed: frozenset[str]
    writes: frozenset[str]


class Together(NamedTuple):
    """Runs that follow each other again and again, with the same values."""

    graph: Graph
    fetches: tuple[Fetch, ...]

    def share(self, one: Fetch, other: Fetch) -> float:
        """Return the share of the FLOPs of one run that another one computes too, 0 to 1. 0 if that part reads data or
        changes anything, so that it must run for each."""
        common = one.needed & other.needed
        for name in common:
            node = self.graph.nodes[name]
            if varies(self.graph, node) and optable.row(node.type).kind not in _MAY_BE_SHARED:
                return 0.0
        whole = self._count_flops(one.needed)
        return self._count_flops(common - one.writes) / whole if whole > 0 else 0.0

    def _count_flops(self, names: Iterable[str]) -> float:
        return sum(cost(self.graph, self.graph.nodes[name], _OPEN_SIZE) or 0.0 for name in names)


class SessionRuns:
    """The first runs of each place, with the graphs of their sessions. A probe offers them."""

    def __init__(self, runs: Iterable[SessionRun], graph: Callable[[str], Graph | None]) -> None:
        self.runs = sorted(runs, key=lambda run: run.begin_ns)
        self._graph = graph

    @cached_property
    def together(self) -> list[Together]:
        """Return the runs that follow each other with the same values, several times in the run."""
        rounds: defaultdict[tuple[str, frozenset[Asked]], list[dict[Asked, int]]] = defaultdict(list)
        for name, round_ in self._split_rounds():
            rounds[name, frozenset(round_)].append(round_)
        found = []
        for (name, members), alike in rounds.items():
            graph = self._graph(name) if len(members) > 1 and len(alike) >= _MIN_ITERATIONS else None
            if graph is not None and all(each in graph.nodes for asked in members for each in asked.fetched):
                fed = self._fed(name)
                fetches = (
                    _describe(graph, asked, fed, [round_[asked] for round_ in alike]) for asked in sorted(members)
                )
                found.append(Together(graph, tuple(fetches)))
        return found

    @cached_property
    def requests(self) -> list[Request]:
        """Return what the runs compute, for each set of fetches of a graph."""
        found: defaultdict[tuple[str, tuple[str, ...]], list[SessionRun]] = defaultdict(list)
        for run in self.runs:
            found[run.graph, _ask(run).fetched].append(run)
        made = []
        for number, ((name, fetched), runs) in enumerate(found.items()):
            graph = self._graph(name)
            if graph is None or not all(each in graph.nodes for each in fetched):
                continue
            shapes = {each: tuple(shape) for run in reversed(runs) for each, shape in run.shapes.items()}
            fed = sorted({each for run in runs for each in run.feeds})
            part = graph.cut(f"{name}, fetches {number}", fed, fetched, _find_needed(graph, fetched, frozenset(fed)))
            places = tuple(dict.fromkeys((run.file, run.line) for run in runs))
            made.append(Request(part, places, tuple(shapes.get(each) for each in fed)))
        return made

    def _split_rounds(self) -> Iterator[tuple[str, dict[Asked, int]]]:
        """Yield the longest rows of runs that are fed the same values, each of which fetches something else: by what is
        fetched, when it began."""
        open_rounds: dict[tuple[str, int], tuple[dict[Asked, int], dict[str, str]]] = {}
        for run in self.runs:
            asked = _ask(run)
            round_, feeds = open_rounds.get((run.graph, run.thread), ({}, {}))
            if asked in round_ or not _agree(feeds, run.feeds):
                if round_:
                    yield run.graph, round_
                round_, feeds = {}, {}
            open_rounds[run.graph, run.thread] = {**round_, asked: run.begin_ns}, {**feeds, **run.feeds}
        for (name, _), (round_, _) in open_rounds.items():
            yield name, round_

    def _fed(self, name: str) -> frozenset[str]:
        return frozenset(each for run in self.runs if run.graph == name for each in run.feeds)


def _ask(run: SessionRun) -> Asked:
    return Asked(run.file, run.line, tuple(sorted(run.fetched)))


def _agree(one: dict[str, str], other: dict[str, str]) -> bool:
    """Return whether feeds have something in common, and all of that is the same."""
    common = one.keys() & other.keys()
    return bool(common) and all(one[key] == other[key] != "" for key in common)


def _describe(graph: Graph, asked: Asked, fed: frozenset[str], begins: Iterable[int]) -> Fetch:
    needed = _find_needed(graph, asked.fetched, fed)
    writes = frozenset(name for name in needed if optable.row(graph.nodes[name].type).kind == "write")
    return Fetch(asked, tuple(begins), needed, writes)


def _find_needed(graph: Graph, fetched: Iterable[str], fed: frozenset[str]) -> frozenset[str]:
    """Return the operations that lead to what is fetched, up to what is fed."""
    needed: set[str] = set()
    pending = [*fetched]
    while pending:
        node = graph.nodes.get(pending.pop())
        if node is not None and node.name not in needed and node.name not in fed:
            needed.add(node.name)
            pending += [*(owner for owner, _ in node.inputs), *node.control_inputs]
    return frozenset(needed)
