"""Tensors that a loop in a compiled function only hands on: one operation of the body takes such a tensor and makes the
next iteration's, and nothing else reads either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import SAME
from tfperfkit.graph.view import FOLLOWED, View
from tfperfkit.graph.walk import BRANCHES, LOOPS, varies

COPIES_OF_ROW = Threshold(
    2, "copies", "number of copies of each row that a tf.TensorArray makes", Derived("one in write(), one in stack()")
)
ITERATIONS_UNKNOWN = Threshold(
    40,
    "iterations",
    "assumed number of iterations of a loop, if unknown",
    Chosen("in a shorter loop the copies hardly take a tenth of a step"),
)

_COUNTS = optable.names(trait="shifts")


class HandedOn(NamedTuple):
    """``made``: the operation in ``body`` of a ``loop`` in ``view``. ``slots``: the numbers of the loop's arguments
    that it takes and returns: three for a sparse tensor, or fewer. ``chosen_by``: ``body`` is a branch of this
    condition in the loop's body ``around``, ``slots`` are its arguments, and other branches hand the tensor on as it
    is."""

    view: View
    loop: Node
    body: View
    made: Node
    slots: tuple[int, ...]
    around: View | None = None
    chosen_by: Node | None = None

    @property
    def alone(self) -> bool:
        """Whether no iteration needs the result of another: all other arguments stay as they are, or count."""
        if self.chosen_by is not None:
            return False
        results = self.body.graph.record.results
        others = [number for number in range(len(results)) if number not in self.slots]
        settled = all(_stays(self.body, number) or self.counts(number) for number in others)
        return settled and not any(varies(self.body.graph, node) for node in self.body.nodes.values())

    def counts(self, number: int) -> bool:
        """Whether each iteration adds the same whole number other than 0 to an argument, or takes it off."""
        body, results = self.body, self.body.graph.record.results
        made = body.made(results[number]) if number < len(results) else None
        if made is None or made.type not in _COUNTS:
            return False
        sources = [body.source(made, each) for each in (0, 1)]
        argument, step = sources if made.type == "Sub" else sorted(sources, key=lambda node: not self._is(node, number))
        return self._is(argument, number) and bool(any(self._integers(step) or ()))

    def _is(self, node: Node | None, number: int) -> bool:
        return node is not None and node.name == self.body.graph.slots[number]

    def _integers(self, node: Node | None) -> list[int] | None:
        """Return the values of a constant of the body, or of one that the loop is given and keeps."""
        slots = self.body.graph.slots
        if node is None or node.name not in slots:
            return self.body.integers(node)
        number = slots.index(node.name)
        kept = number < len(self.body.graph.record.results) and _stays(self.body, number)
        return self.view.integers(self.view.source(self.loop, number)) if kept else None

    def is_argument(self, given: tuple[str, int]) -> bool:
        """Whether an input of the operation is one of the arguments."""
        source = self.body.made(*given)
        return source is not None and source.name in {self.body.graph.slots[slot] for slot in self.slots}


def find_handed_on(view: View) -> Iterator[HandedOn]:
    """Yield such tensors of all loops of a graph."""
    for loop in view.forward:
        bodies = [view.graph.body(name) for key in ("body", "cond") for name in loop.functions().get(key, ())]
        if loop.type in LOOPS and len(bodies) == 2 and bodies[0] is not None and bodies[1] is not None:
            yield from _find_in_body(view, loop, view.inside(bodies[0]), view.inside(bodies[1]))


def _find_in_body(view: View, loop: Node, body: View, condition: View) -> Iterator[HandedOn]:
    slots: dict[str, list[int]] = defaultdict(list)
    results = body.graph.record.results
    for number, (slot, result) in enumerate(zip(body.graph.slots, results, strict=False)):
        made, argument = body.made(result), body.nodes.get(slot)
        if made is None or argument is None or made is argument:
            continue
        reads = [use.node.name for use in body.uses(argument)]
        if reads == [made.name] and _is_unread(condition, number):
            slots[made.name].append(number)
    for name, numbers in slots.items():
        made = body.nodes[name]
        uses = {use.node.name for output in range(len(made.outputs)) for use in body.uses(made, output)}
        if made.type in BRANCHES:
            yield from _find_in_branch(view, loop, body, made, numbers)
        elif uses <= {results[number] for number in numbers}:
            yield HandedOn(view, loop, body, made, tuple(numbers))


def _find_in_branch(view: View, loop: Node, body: View, made: Node, numbers: list[int]) -> Iterator[HandedOn]:
    """Yield the operation of the only branch that changes the tensor."""
    graphs = [body.graph.body(name) for names in made.functions().values() for name in names]
    branches = [body.inside(graph) for graph in graphs if graph is not None]
    for number in numbers if len(branches) == len(graphs) else ():
        result = body.graph.record.results[number]
        output = _number_of_output(body, result)
        given = [
            at for at, _ in enumerate(made.inputs) if body.source(made, at) is body.nodes[body.graph.slots[number]]
        ]
        if len(given) != 1 or {use.node.name for use in body.uses(made, output)} > {result}:
            continue
        slot = given[0] - 1  # the condition comes first
        changing = [branch for branch in branches if not _hands_on(branch, slot, output)]
        if len(changing) == 1 and output < len(changing[0].graph.record.results):
            branch = changing[0]
            inner = branch.made(branch.graph.record.results[output])
            argument = branch.nodes[branch.graph.slots[slot]]
            reads = [use.node for use in branch.uses(argument)]
            if (
                inner is not None
                and reads == [inner]
                and {use.node.name for use in branch.uses(inner)} <= branch.results
            ):
                yield HandedOn(view, loop, branch, inner, (slot,), around=body, chosen_by=made)


def _number_of_output(body: View, name: str) -> int:
    """Return which output of the operation behind a result it is, past what hands it on."""
    output, node = 0, body.nodes.get(name)
    for _ in range(FOLLOWED):
        if node is None or node.type not in SAME:
            break
        name, output = node.inputs[0]
        node = body.nodes.get(name)
    return output


def _hands_on(branch: View, slot: int, output: int) -> bool:
    """Whether a branch returns an argument as it is."""
    results, slots = branch.graph.record.results, branch.graph.slots
    made = branch.made(results[output]) if output < len(results) else None
    return made is not None and slot < len(slots) and made.name == slots[slot]


def _is_unread(condition: View, number: int) -> bool:
    """Return whether a condition asks an argument for nothing but its size."""
    slots = condition.graph.slots
    argument = condition.nodes.get(slots[number]) if number < len(slots) else None
    return argument is not None and argument.name not in condition.results and not condition.uses(argument)


def _stays(body: View, number: int) -> bool:
    """Whether the body hands an argument on as it is, or a constant in its place."""
    made = body.made(body.graph.record.results[number])
    return made is not None and (made.name == body.graph.slots[number] or made.type == "Const")
