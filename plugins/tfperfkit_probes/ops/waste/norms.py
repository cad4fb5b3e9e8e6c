"""Gradients that are clipped by a norm: all are read and squared to add them up, and read and written again to scale
them."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, SAME, UNARY
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted

KIND = "norm"
_SCALES = frozenset({"Mul", "RealDiv", "Div", "DivNoNan"})
_REDUCES = frozenset({"Sum", "L2Loss", "EuclideanNorm"})
#: From the sums to the factor: numbers, and a vector of one for each gradient.
_OF_NUMBERS = (
    SAME
    | UNARY
    | BINARY
    | {
        "Greater",
        "Less",
        "Pack",
        "ConcatV2",
        "AddN",
        "Reshape",
        "Squeeze",
        "Sum",
        "Fill",
        "IsFinite",
        "OnesLike",
        "ZerosLike",
    }
)
_MAX_OPERATIONS = 4000
_DEPTH = 6


class _Factors:
    """What a factor is made of, each number's sources looked for once: all gradients are scaled by the same."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[str, dict[str, list[Node]]] = {}

    def of(self, name: str) -> dict[str, list[Node]]:
        """By the node that makes a tensor which goes into its norm: the operations that reduce it; by no name those
        from the sums to the factor."""
        if name not in self._known:
            self._known[name] = dict(self._reduced(name))
        return self._known[name]

    def _reduced(self, name: str) -> Iterator[tuple[str, list[Node]]]:
        pending, seen = [name], {name}
        between: list[Node] = []
        while pending and len(seen) < _MAX_OPERATIONS:
            node = self._view.nodes.get(pending.pop())
            if node is None:
                continue
            large = [each for each in node.inputs[:1] if (self._view.elements(*each) or 0) > 1]
            if node.type in _REDUCES and large:
                way, made = [node], self._view.made(*large[0])
                while made is not None and len(way) < _DEPTH and _is_square(self._view, made):
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


def norms(view: View) -> Iterator[Wasted]:
    """By gradients that are multiplied by a number which comes from a sum over themselves."""
    factors = _Factors(view)
    region: dict[str, Node] = {}
    clipped: set[str] = set()
    together = 1
    for node in view.forward:
        if node.type not in _SCALES or len(node.inputs) != 2:
            continue
        sizes = [view.elements(*owner) for owner in node.inputs]
        if 1 not in sizes or sizes[0] == sizes[1]:
            continue
        number, large = (0, 1) if sizes[0] == 1 else (1, 0)
        gradient, way = _scaled(view, node, large)
        if gradient is None or not gradient.backward:
            continue
        reduced = factors.of(node.inputs[number][0])
        if gradient.name in reduced:
            clipped.add(gradient.name)
            together = max(together, len(reduced) - 1)
            region.update({each.name: each for each in (*way, *(one for each in reduced.values() for one in each))})
    if not region:
        return
    places = [node.place for node in region.values() if node.place is not None]
    yield Wasted(
        kind=KIND,
        where=places[0] if places else None,
        places=list(dict.fromkeys(places)),
        operations=list(region),
        updates=list(region),
        left=0.0,
        figures={"gradients": len(clipped), "together": together},
    )


def _is_square(view: View, node: Node) -> bool:
    """Whether an operation makes a square, or what else a norm is made of, out of one tensor."""
    if node.backward:
        return False
    alone = len({view.made(*owner) for owner in node.inputs}) == 1  # g * g
    return node.type in UNARY or (node.type in BINARY and alone) or node.type == "Reshape"


def _scaled(view: View, node: Node, large: int) -> tuple[Node | None, list[Node]]:
    """The gradient behind a multiplication, past others by a number."""
    way = [node]
    made = view.source(node, large)
    while made is not None and made.type in _SCALES and not made.backward and len(way) < _DEPTH:
        sizes = [view.elements(*owner) for owner in made.inputs]
        if 1 not in sizes or sizes[0] == sizes[1]:
            break
        way.append(made)
        made = view.source(made, 1 if sizes[0] == 1 else 0)
    return made, way
