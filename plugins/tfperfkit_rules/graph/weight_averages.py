"""GRF030: averages of all weights are updated in every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, SAME, UNARY
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import WRITES
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.on_purpose import weighed
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.measures.source_calls import find_given, is_true

AVERAGED_EACH = Threshold(
    10,
    "steps",
    "number of steps between updates of weight averages, as advised",
    Chosen("with a momentum of 0.99 and more an average looks back a hundred steps and more: a tenth of them"),
)
#: Work number by number, as in ``momentum * average + (1 - momentum) * weight``.
_BETWEEN = SAME | UNARY | BINARY | optable.names(kind="sum-of-many")
_MAX_OPERATIONS = 100
_LEFT_TO_USER = (
    " Assign the averages to the weights after the training, which use_ema did. ema_overwrite_frequency saves nothing."
)


class AveragedWeights(Cause, frozen=True, kw_only=True):
    """``variables`` are averages of others; ``numbers``: in all of them."""

    each_variable: ClassVar[bool] = True

    variables: int
    numbers: int


class WeightAverages(GraphRule[AveragedWeights]):
    """Recognised by variables that get a mixture of their own value and of one other variable: no gradient."""

    code = "GRF030"
    title = "Weight averages (EMA) updated in every step"

    def find(self, view: View) -> Iterator[AveragedWeights]:
        """Yield all averages of a graph as one cause."""
        return averaged_weights(view)

    def report(self, evidence: Evidence, part: Part[AveragedWeights]) -> Finding:
        """Advise a function of their own that is called every few steps."""
        by_keras = find_given(evidence, "use_ema", is_true)
        each = round(AVERAGED_EACH.value)
        first = (
            "Remove use_ema, and update the averages in a tf.function of your own that"
            if by_keras
            else "Move the update of the averages into a tf.function of its own that"
        )
        made = self.finding(
            evidence,
            part,
            f"Weight averages (EMA) of {often(part.cause.numbers)} numbers updated in {evidence.unit.every}",
            f"{first} you call every {each} steps: momentum = 0.999 ** {each}, then "
            "average.assign(momentum * average + (1 - momentum) * weight)." + (_LEFT_TO_USER if by_keras else ""),
            f"Each update reads all weights and averages and writes all averages, in {evidence.unit.each}.",
            count("averaged variables", part.cause.variables),
            count("numbers in the averaged variables", part.cause.numbers),
        )
        return weighed(made, part, *by_keras)


def averaged_weights(view: View) -> Iterator[AveragedWeights]:
    """Yield all averages of a graph as one cause."""
    region: dict[str, Node] = {}
    variables = numbers = 0
    for node in view.nodes.values():
        way = _mixture(view, node) if node.type in WRITES and len(node.inputs) == 2 else []
        if way:
            region.update({each.name: each for each in way})
            variables += 1
            numbers += view.elements(*node.inputs[1]) or 0
    if region:
        places = [node.place for node in region.values() if node.place is not None]
        yield AveragedWeights(
            where=places[-1] if places else None,
            places=places,
            operations=list(region),
            # After an optimizer they belong to the update of the weights, in a function of their own to nothing.
            updates=list(region),
            left=1 / AVERAGED_EACH.value,
            variables=variables,
            numbers=numbers,
        )


def _mixture(view: View, write: Node) -> list[Node]:
    """The operations from the two reads to the write; [] if anything else goes into it."""
    target, whole = view.owner(write.inputs[0][0]), view.elements(*write.inputs[1])
    if whole is None or whole < 2:  # mixing one number takes no time
        return []
    found: dict[str, Node] = {write.name: write}
    read: set[str] = set()
    pending = [write.inputs[1]]
    while pending:
        owner = pending.pop()
        node = view.nodes.get(owner[0])
        if node is None or len(found) > _MAX_OPERATIONS or node.backward:
            return []
        if view.elements(*owner) == 1 or node.name in found:
            continue  # how much of each
        found[node.name] = node
        if node.type == "ReadVariableOp":
            read.add(view.owner(node.inputs[0][0]))
        elif node.type in _BETWEEN:
            pending += node.inputs
        elif node.type != "Const":
            return []
    return list(reversed(found.values())) if target in read and len(read) == 2 else []
