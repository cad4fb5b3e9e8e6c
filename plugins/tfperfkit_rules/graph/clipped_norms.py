"""GRF029: clipping gradients by a norm takes a good part of a step.

All gradients are read and squared for the norm, then read and written again to be scaled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, SAME, UNARY
from tfperfkit.graph.view import COLLECTED, FOLLOWED, View
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.on_purpose import weighed
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.measures.source_calls import find_given, is_not_false

_BY_KERAS = ("global_clipnorm", "clipnorm")
_SCALES = optable.names(trait="scales")
_ADDS_UP = optable.names(trait="adds-up")
#: From the sums to the factor: numbers, and a vector of one for each gradient.
_OF_NUMBERS = (
    SAME
    | UNARY
    | BINARY
    | _ADDS_UP
    | optable.names(
        kind=("comparison", "predicate", "stack", "concat", "sum-of-many", "reshape", "fill", "fill-like"),
    )
)


class ClippedGradients(Cause, frozen=True, kw_only=True):
    """``gradients`` are scaled by a number that comes from their squares, of ``together`` gradients at most."""

    each_variable: ClassVar[bool] = True

    gradients: int
    together: int


class ClippedNorms(GraphRule[ClippedGradients]):
    """Recognised by gradients that are scaled by a number that comes from a sum over their own squares."""

    code = "GRF029"
    title = "Gradient clipping (clipnorm, tf.clip_by_norm) takes much of the step"

    def find(self, view: View) -> Iterator[ClippedGradients]:
        """Yield all clipping of a graph as one cause."""
        return clipped_gradients(view)

    def report(self, evidence: Evidence, part: Part[ClippedGradients]) -> Finding:
        """Advise to see whether it ever clips."""
        by_keras = [each for word in _BY_KERAS for each in find_given(evidence, word, is_not_false)]
        gradients = part.cause.gradients
        norm = "their common norm" if part.cause.together > 1 else "the norm of each"
        made = self.finding(
            evidence,
            part,
            f"Clipping {gradients} gradients by {norm} takes {100 * part.share:.0f} % of {evidence.unit.a}",
            "Keep the largest norm of a whole run, largest.assign(tf.maximum(largest, "
            "tf.linalg.global_norm(gradients))), and remove the clipping if it stays below the limit. Or: clip only "
            "the layers that need it, such as recurrent ones. Or: keep the clipping and update each variable in one "
            "operation (see this finding's page).",
            "All gradients are read for the norm, then read and written again to scale them. That happens even if the "
            "norm is below the limit: then they are multiplied by 1.",
            count("clipped gradients", gradients),
        )
        return weighed(made, part, *by_keras)


def clipped_gradients(view: View) -> Iterator[ClippedGradients]:
    """Yield all clipping of a graph as one cause."""
    factors = _Factors(view)
    region: dict[str, Node] = {}
    clipped: set[str] = set()
    together = 1
    for node in view.forward:
        large = _scaled_input(view, node)
        if large is None:
            continue
        gradient, way = _gradient(view, node, large)
        if gradient is None or not gradient.backward:
            continue
        reduced = factors.sources(node.inputs[1 - large][0])
        if gradient.name in reduced:
            clipped.add(gradient.name)
            together = max(together, len(reduced) - 1)
            region.update({each.name: each for each in (*way, *(one for each in reduced.values() for one in each))})
    if region:
        places = [node.place for node in region.values() if node.place is not None]
        yield ClippedGradients(
            where=places[0] if places else None,
            places=places,
            operations=list(region),
            updates=list(region),
            left=0.0,
            gradients=len(clipped),
            together=together,
        )


class _Factors:
    """The operations that make a factor.

    The sources of each are looked for once: all gradients are scaled by the same one.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[str, dict[str, list[Node]]] = {}

    def sources(self, name: str) -> dict[str, list[Node]]:
        """Map each node that makes a tensor whose norm is taken to the operations that reduce the tensor. The key ""
        has those from the sums to the factor."""
        if name not in self._known:
            self._known[name] = dict(self._reduced(name))
        return self._known[name]

    def _reduced(self, name: str) -> Iterator[tuple[str, list[Node]]]:
        pending, seen = [name], {name}
        between: list[Node] = []
        while pending and len(seen) < COLLECTED:
            node = self._view.nodes.get(pending.pop())
            if node is None:
                continue
            large = [each for each in node.inputs[:1] if (self._view.elements(*each) or 0) > 1]
            if node.type in _ADDS_UP and large:
                way, made = [node], self._view.made(*large[0])
                while made is not None and len(way) < FOLLOWED and _is_square(self._view, made):
                    way.append(made)
                    made = self._view.made(*made.inputs[0])
                if made is not None and made.type not in ("Pack", "ConcatV2"):
                    yield made.name, way
                    continue
            if node.type in _OF_NUMBERS:
                between.append(node)
                new = [owner for owner, _ in node.inputs if owner not in seen]
                seen.update(new)
                pending += new
        yield "", between


def _scaled_input(view: View, node: Node) -> int | None:
    """The number of the input that another, of one number, scales; None if there is none."""
    if node.type not in _SCALES or len(node.inputs) != 2:
        return None
    sizes = [view.elements(*owner) for owner in node.inputs]
    if 1 not in sizes or sizes[0] == sizes[1]:
        return None
    return 1 if sizes[0] == 1 else 0


def _is_square(view: View, node: Node) -> bool:
    """Whether an operation makes a square of one tensor, or what else a norm is made of."""
    if node.backward:
        return False
    alone = len({view.made(*owner) for owner in node.inputs}) == 1  # g * g
    return node.type in UNARY or (node.type in BINARY and alone) or node.type == "Reshape"


def _gradient(view: View, node: Node, large: int) -> tuple[Node | None, list[Node]]:
    """Return the tensor that multiplications by a number scale, and these multiplications."""
    way = [node]
    made = view.source(node, large)
    while made is not None and not made.backward and len(way) < FOLLOWED:
        further = _scaled_input(view, made)
        if further is None:
            break
        way.append(made)
        made = view.source(made, further)
    return made, way
