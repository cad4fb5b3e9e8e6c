"""One dataflow engine: goes forward through a graph, the functions it calls, its loops and its branches.

An analysis says what a tensor's state is, how two states join, and what an ordinary operation makes of the states of
its inputs. The engine does the rest: the placeholders of a body take the states of the operation's inputs; a loop is
repeated until the states of its variables stay; a branch joins what its bodies give.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from tfperfkit.graph import optable
from tfperfkit.graph.model import Graph, Node
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import BRANCHES, CALLS, LOOPS, MAX_DEPTH, MAX_VISITS

S = TypeVar("S")


class Analysis(Protocol[S]):
    """Facts and rules of a dataflow analysis.

    ``unknown`` is the state of which nothing is claimed: it joins with all to itself.
    """

    unknown: S

    def join(self, one: S, other: S) -> S:
        """Return the strongest state that holds for both."""

    def operation(self, view: View, node: Node, inputs: Sequence[S]) -> Sequence[S]:
        """Return the states of an operation's outputs, one each or one for all. It is no call, loop or branch."""

    def chosen(self, condition: S, branches: S) -> S:
        """Return the state of what a condition chooses among values of a joined state."""


@dataclass
class Flowed(Generic[S]):
    """The states of the tensors of a graph. ``bodies``: of the graphs that an operation calls, by the operation."""

    view: View
    states: dict[tuple[str, int], S]
    bodies: dict[str, list[Flowed[S]]] = field(default_factory=dict)


def interpret(
    analysis: Analysis[S],
    view: View,
    given: Mapping[str, S],
    starts: Mapping[tuple[str, int], S] | None = None,
) -> Flowed[S]:
    """Go through a graph and all that it calls. ``given``: the states of its placeholders; others are unknown.

    ``starts``: states of tensors of the graph itself, whatever they are made of.
    """
    return _Interpreter(analysis, starts or {}).graph(view, given, 0)


class _Interpreter(Generic[S]):
    def __init__(self, analysis: Analysis[S], starts: Mapping[tuple[str, int], S]) -> None:
        self._analysis = analysis
        self._starts = starts
        self._visits = 0
        self._open: list[str] = []  # graphs that are being gone through

    def graph(self, view: View, given: Mapping[str, S], depth: int) -> Flowed[S]:
        unknown = self._analysis.unknown
        flowed: Flowed[S] = Flowed(view, {})
        states = flowed.states
        self._open.append(view.graph.name)
        for node in view.nodes.values():
            self._visits += 1
            inputs = [states.get(owner, unknown) for owner in node.inputs]
            if self._visits > MAX_VISITS:
                made: Sequence[S] = (unknown,)
            elif node.type == "Placeholder" or (not depth and node.name in given):  # a variable in a session's graph
                made = (given.get(node.name, unknown),)
            elif node.type in _BODIES:
                made = self._interpret_call(flowed, node, inputs, depth)
            else:
                made = self._analysis.operation(view, node, inputs)
                if _may_write(node):
                    self._forget(flowed, range(len(node.inputs)), node)
            for output in range(len(node.outputs)):
                # One state is of all outputs; a record may tell fewer results of a body than a loop hands on.
                state = made[0] if len(made) == 1 else made[output] if output < len(made) else unknown
                states[node.name, output] = self._starts.get((node.name, output), state) if not depth else state
        self._open.pop()
        return flowed

    def _forget(self, flowed: Flowed[S], numbers: Iterable[int], node: Node) -> None:
        """Forget the values of these variables."""
        for number in numbers:
            root = flowed.view.source(node, number)
            if root is not None and root.type == "Placeholder" and root.outputs[0].dtype == "resource":
                flowed.states[root.name, 0] = self._analysis.unknown

    def _interpret_call(self, flowed: Flowed[S], node: Node, inputs: Sequence[S], depth: int) -> Sequence[S]:
        """Return the states of what a call, a loop or a branch gives; unknown if a body was not recorded."""
        graph = flowed.view.graph
        names = [name for listed in node.functions().values() for name in listed]
        bodies = {name: body for name in names if (body := graph.body(name)) is not None}
        known = bool(names) and len(bodies) == len(set(names)) and depth < MAX_DEPTH
        if not known or any(body.name in self._open for body in bodies.values()):
            self._forget(flowed, range(len(node.inputs)), node)
            return (self._analysis.unknown,)
        if node.type in LOOPS:
            return self._loop(flowed, node, inputs, depth)
        first = 1 if node.type in BRANCHES else 0  # the condition comes first
        insides = [self._body(flowed, node, bodies[name], inputs[first:], depth, first) for name in names]
        flowed.bodies[node.name] = insides
        made = [_results(inside, self._analysis) for inside in insides]
        if not first:
            return made[0]
        return [self._analysis.chosen(inputs[0], _joined(self._analysis, each)) for each in zip(*made, strict=False)]

    def _body(
        self, flowed: Flowed[S], node: Node, body: Graph, given: Sequence[S], depth: int, first: int = 0
    ) -> Flowed[S]:
        """Go through a body whose slots are the operation's inputs from ``first`` on."""
        slots = body.slots
        inside = self.graph(flowed.view.inside(body), dict(zip(slots, given, strict=False)), depth + 1)
        changed = [at for at, slot in enumerate(slots) if inside.states.get((slot, 0)) == self._analysis.unknown]
        self._forget(flowed, [first + at for at in changed if first + at < len(node.inputs)], node)
        return inside

    def _loop(self, flowed: Flowed[S], node: Node, inputs: Sequence[S], depth: int) -> Sequence[S]:
        """Repeat a body until the states of the loop's variables stay. They only get weaker, so they do."""
        functions, analysis, states = node.functions(), self._analysis, list(inputs)
        body, condition = (flowed.view.graph.body(functions.get(key, [""])[0]) for key in ("body", "cond"))
        if body is None or condition is None:
            return (analysis.unknown,)
        while True:
            inside = self._body(flowed, node, body, states, depth)
            made = _results(inside, analysis)
            joined = [analysis.join(*each) for each in zip(states, made, strict=False)]
            if joined == states[: len(joined)]:
                break
            states = [*joined, *states[len(joined) :]]
        goes_on = self._body(flowed, node, condition, states, depth)
        flowed.bodies[node.name] = [inside, goes_on]
        often = _joined(analysis, _results(goes_on, analysis))
        return [analysis.chosen(often, state) for state in joined]


_BODIES = CALLS | LOOPS | BRANCHES


def _may_write(node: Node) -> bool:
    """Return whether an operation may assign to a variable that it is given."""
    row = optable.row(node.type)
    return "writes-variable" in row.traits or row.varies


def _results(inside: Flowed[S], analysis: Analysis[S]) -> list[S]:
    """Return the states of what a body returns."""
    record, states = inside.view.graph.record, inside.states
    if record.result_outputs:
        owners = zip(record.results, record.result_outputs, strict=False)
        return [states.get(owner, analysis.unknown) for owner in owners]
    made = (inside.view.nodes.get(name) for name in record.results)
    return [
        _joined(analysis, [states[node.name, output] for output in range(len(node.outputs))])
        if node is not None
        else analysis.unknown
        for node in made
    ]


def _joined(analysis: Analysis[S], states: Sequence[S]) -> S:
    joined = states[0] if states else analysis.unknown
    for state in states[1:]:
        joined = analysis.join(joined, state)
    return joined
