"""Small variables that an optimizer brings up to date one by one: their operations take as long to start as to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, SAME, UNARY
from tfperfkit.graph.staying import owner_of
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers
from tfperfkit_probes.ops.waste.averages import averages
from tfperfkit_probes.ops.waste.norms import norms

KIND = "update"
_WRITES = frozenset({"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"})
#: Number by number, with the numbers that are the same for all of a variable: a rate, powers of a momentum.
_BETWEEN = SAME | UNARY | BINARY | {"AddN", "Select", "SelectV2"}
_MAX_OPERATIONS = 100
_FEWEST = 2


class _Update:
    """What brings one variable up to date, with what the optimizer keeps of it."""

    def __init__(self) -> None:
        self.operations: dict[str, Node] = {}
        self.numbers = 0
        self.shape: tuple[int, ...] | None = None


def updates(view: View) -> Iterator[Wasted]:
    """By variables that are assigned what comes number by number from their gradient, or from a variable that does: a
    moment. The same update of all of them as one variable would do."""
    known: dict[str, _Update] = {}  # by the gradient, and by each variable that it changes
    for node in view.nodes.values():
        if node.type in _WRITES and len(node.inputs) > 1:
            _follow(view, node, known)
    others = {name for each in (*norms(view), *averages(view)) for name in each.operations}  # findings of their own
    small = [each for each in dict.fromkeys(known.values()) if each.numbers <= numbers.SMALL_VARIABLE.value]
    counts = [len(each.operations.keys() - others) for each in small]
    if len(small) < _FEWEST or median(counts) <= numbers.TOGETHER_LEFT.value:
        return
    operations = {name: node for each in small for name, node in each.operations.items() if name not in others}
    alike = Counter(each.shape for each in small)
    places = [node.place for node in operations.values() if node.place is not None]
    yield Wasted(
        kind=KIND,
        where=places[0] if places else None,
        places=list(dict.fromkeys(places)),
        operations=list(operations),
        updates=list(operations),
        left=numbers.TOGETHER_LEFT.value / median(counts),
        figures={
            "variables": len(small),
            "numbers": median(each.numbers for each in small),
            "operations": median(counts),
            "alike": sum(count for count in alike.values() if count > 1),
            "shapes": sum(count > 1 for count in alike.values()),
        },
    )


def _follow(view: View, write: Node, known: dict[str, _Update]) -> None:
    """Add what is written by this operation to the update of its variable; nothing where no gradient goes into it."""
    target, whole = owner_of(view.graph, write.inputs[0][0]), view.elements(*write.inputs[1])
    if whole is None:
        return
    found: dict[str, Node] = {write.name: write}
    gradients: list[str] = []
    pending = [write.inputs[1]]
    while pending:
        owner = pending.pop()
        node = view.nodes.get(owner[0])
        if node is None or node.name in found or len(found) > _MAX_OPERATIONS:
            continue
        size = view.elements(*owner)
        if node.type == "IdentityN":  # Keras' optimizers hand all gradients through one
            pending += node.inputs[owner[1] : owner[1] + 1]
        elif node.backward:
            gradients += [":".join(map(str, owner))] if size == whole else []
        elif node.type == "ReadVariableOp":
            found[node.name] = node
            handle = owner_of(view.graph, node.inputs[0][0])
            if handle in known and handle != target and size == whole:
                gradients.append(handle)
        elif node.type in _BETWEEN and size in (1, whole):
            found[node.name] = node
            pending += node.inputs
    update = next((known[each] for each in (target, *gradients) if each in known), _Update() if gradients else None)
    if update is None:
        return
    update.operations.update(found)
    update.numbers, update.shape = whole, view.shape(*write.inputs[1])
    for each in (target, *gradients):
        known.setdefault(each, update)
