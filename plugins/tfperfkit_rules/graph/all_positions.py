"""GRF027: layers compute all positions of a sequence, of which few are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.clock import NS_PER_MS
from tfperfkit.graph import optable
from tfperfkit.graph.hot import one_hot
from tfperfkit.graph.model import Node
from tfperfkit.graph.products import product_of
from tfperfkit.graph.sizes import BINARY, UNARY
from tfperfkit.graph.slices import taken, taken_count
from tfperfkit.graph.view import Use, View
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.functions import places
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.measures.source_calls import find_given

POSITIONS_MIN = Threshold(4, "positions", "minimum length of a sequence: a shorter one gains little", Chosen("a few"))
POSITIONS_OPERATIONS_MAX = Threshold(
    50,
    "operations",
    "maximum number of operations that compute the positions of a tensor",
    Chosen("it bounds the search"),
)
_AXES = ("examples", "positions", "numbers")
_POSITIONS = _AXES.index("positions")
_LAST = (
    " Or: set return_sequences=False in the recurrent layer below, if it is not Bidirectional and nothing else uses "
    "the other positions."
)
_ALONE = UNARY | optable.names(kind=("bias", "softmax"), differentiates=False)


class ComputedPositions(Cause, frozen=True, kw_only=True):
    """Of ``positions`` that are computed, ``used`` are used; of these data name ``named``, and slices the others.
    ``only_last``: whether the last position alone is used."""

    positions: int
    used: int
    named: int
    only_last: bool = False


class AllPositions(GraphRule[ComputedPositions]):
    """Finds slices and lookups along the second axis of a tensor that nothing else uses, behind a product with one
    matrix for all positions."""

    code = "GRF027"
    title = "Dense layer computes all positions, few are used"

    def find(self, view: View) -> Iterator[ComputedPositions]:
        """Yield the tensors of which half of the positions or fewer are used."""
        for node in view.forward:
            shape = view.shape(node.name)
            if not shape or len(shape) != len(_AXES) or node.name in view.results:
                continue
            length, uses = shape[_POSITIONS], view.uses(node)
            parts = [_find_used(view, use, length) for use in uses] if length >= POSITIONS_MIN.value else []
            if not parts or None in parts:
                continue
            fixed = {at for part in parts if isinstance(part, range) for at in part}
            named = sum(part for part in parts if isinstance(part, int))
            used = len(fixed) + named
            region = _find_region(view, node) if used <= length / 2 else []
            if not any(product_of(view, each) for each in region):
                continue
            lines = [each.place for each in (*region, *(use.node for use in uses)) if each.place is not None]
            yield ComputedPositions(
                where=lines[0] if lines else None,
                places=list(dict.fromkeys(lines)),
                operations=[each.name for each in region],
                left=used / length,
                positions=length,
                used=used,
                named=named,
                only_last=not named and fixed == {length - 1},
            )

    def report(self, evidence: Evidence, part: Part[ComputedPositions]) -> Finding:
        """Advise to take the positions before the layer."""
        cause = part.cause
        layer = _find_layer(evidence, cause)
        slice_ = "" if cause.named else "[:, -1]"
        made = self.finding(
            evidence,
            part,
            f"Dense layer computes all {often(cause.positions)} positions, {often(cause.used)} "
            f"{'is' if cause.used == 1 else 'are'} used",
            _advise_order(layer, slice_) + (_LAST if cause.only_last else ""),
            "Each position is computed on its own, so the results are the same. The results of all other positions are "
            "discarded, forward and backward.",
            count("positions computed", cause.positions),
            count("positions used", cause.used),
        )
        return msgspec.structs.replace(made, where=places([*_find_name(evidence, layer), *made.where]))


def _find_used(view: View, use: Use, length: int) -> range | int | None:
    """Find the positions that are taken, or of those that indices name how many; None if it may be all."""
    node = use.node
    if node.type == "Unpack" and node.attr("axis") is not None and node.attr("axis").i == _POSITIONS:
        taken_out = [at for at in range(len(node.outputs)) if view.uses(node, at)]
        return len(taken_out) if node.name not in view.results and taken_out else None
    if node.type == "Mul":
        # One of each sequence, times one, the others times zero, added up.
        other = node.inputs[1 - use.number]
        sums = {each.node.type for each in view.uses(node)} == {"Sum"} and node.name not in view.results
        along = all(view.axes(each.node) == (_POSITIONS,) for each in view.uses(node)) if sums else False
        shape = view.shape(*other)
        return 1 if along and shape and shape[1:] == (length, 1) and one_hot(view, view.made(*other)) == 1 else None
    if use.number:
        return None
    part = taken(view, node, length, _POSITIONS)
    return range(*part) if part is not None else taken_count(view, node, length, _POSITIONS)


def _find_region(view: View, last: Node) -> list[Node]:
    """Find the operations that make each position of a tensor of that position alone, as far as nothing else needs
    them."""
    found: dict[str, Node] = {}
    pending = [last]
    while pending and len(found) < POSITIONS_OPERATIONS_MAX.value:
        node = pending.pop()
        before = _find_source(view, node)
        needed = node is not last and (
            node.name in view.results or any(use.node.name not in found for use in view.uses(node))
        )
        if before is None or needed or node.name in found:
            continue
        found[node.name] = node
        source = view.made(*before)
        if source is not None:
            pending.append(source)
    return sorted(found.values(), key=lambda node: view.order[node.name])


def _find_source(view: View, node: Node) -> tuple[str, int] | None:
    """Find the input that an operation takes position by position; None for an operation that does not work so."""
    made, numbers = view.shape(node.name), view.elements(node.name)
    if not made or not node.inputs:
        return None
    before = view.shape(*node.inputs[0])
    if node.type in _ALONE:
        return node.inputs[0]
    if view.reshapes(node):  # [n, positions, numbers] to [n * positions, numbers] or back
        return node.inputs[0] if before and before[-1] == made[-1] and made[-1] > 0 else None
    if node.type in BINARY:
        # The other one is the same for all positions: a bias, a number.
        whole = [owner for owner in node.inputs if view.elements(*owner) == numbers]
        others = [owner for owner in node.inputs if owner not in whole]
        alike = all((view.elements(*owner) or made[-1] + 1) <= made[-1] for owner in others)
        return whole[0] if len(whole) == 1 and alike else None
    product = product_of(view, node)
    if product is None or [label for label in product.left if label not in product.out] != [product.left[-1]]:
        return None
    # One matrix for all, on the right: none of its axes is one of positions.
    shared = [label for label in product.right if label in product.out and label in product.left]
    return node.inputs[0] if not shared and product.left[:-1] == product.out[: len(product.left) - 1] else None


def _find_name(evidence: Evidence, layer: str) -> list[SourceSpan]:
    """Find where the layer gets its name, if it is one line: a functional model calls it nowhere else."""
    found = find_given(evidence, "name", lambda value: value.is_constant(layer))
    return found if layer and len(found) == 1 else []


def _advise_order(layer: str, slice_: str) -> str:
    """Return what to do first. ``layer``: the layer that computes most of the waste, "" if unknown. ``slice_``: what
    takes the positions, "" if data name them."""
    called = layer if layer.isidentifier() else "layer" if layer else "self.head"
    example = (
        f"{called}(h{slice_}) instead of {called}(h){slice_}"
        if slice_
        else f"{called}(tf.gather(h, places, batch_dims=1)) instead of tf.gather({called}(h), places, batch_dims=1)"
    )
    if not layer:
        return f"Take the positions first, and compute with these: {example}."
    return f"Take the positions before the layer {layer}, not after it: {example}."


def _find_layer(evidence: Evidence, cause: Cause) -> str:
    """Find the layer that computes most of the waste, by the trace; "" without one, or if the user's own lines compute
    it.
    """
    step = evidence.offer(ComputedStep)
    names = set(cause.operations)
    took: Counter[str] = Counter()
    for row in step.operations if step is not None else ():
        if row.of in names and row.layer and not row.direct:
            took[row.layer.rpartition("/")[2]] += round(row.ms * NS_PER_MS)
    return next((layer for layer, _ in took.most_common(1)), "")
