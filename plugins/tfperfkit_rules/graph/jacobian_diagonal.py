"""GRF020: a whole jacobian is computed, and only the blocks on its diagonal are used, or are not zero."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import RESHAPES, UNARY
from tfperfkit.graph.view import COLLECTED, FOLLOWED, View
from tfperfkit.model import Finding
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

JACOBIAN_EXAMPLES_MIN = Threshold(
    8,
    "examples",
    "minimum number of examples of a jacobian: fewer gradients take little",
    Chosen("as iterations of a loop, APART_ITERATIONS"),
)
#: ``tape.jacobian`` is one gradient for each number, made all at once: TensorFlow names what that takes so.
_AT_ONCE = "/pfor/"
_GRADIENT = "gradient_tape/"
#: In it the gradient of one number is taken.
_OF_ONE = "/loop_body/"
_PASSES = RESHAPES | UNARY | optable.names(trait="scales") | {"StridedSlice", "Transpose"}


class DiagonalJacobian(Cause, frozen=True, kw_only=True):
    """``examples`` by ``examples`` blocks are computed. ``zeros``: all are used; those off the diagonal are zero."""

    examples: int
    zeros: bool


class JacobianDiagonal(GraphRule[DiagonalJacobian]):
    """Recognised by what takes a diagonal of what came of one gradient for each number: ``tf.linalg.diag_part``, an
    einsum such as ``bibj->bij``, ``tf.gather_nd`` by equal indices, and a sum over one of the two axes of examples; by
    a sum over both if a network takes each example alone."""

    code = "GRF020"
    remedy = ReplaceOps("gradient_blocks")
    title = "tape.jacobian of a batch computes mostly zero blocks"

    def find(self, view: View) -> Iterator[DiagonalJacobian]:
        """Yield the jacobians of which only the diagonal is used, or not zero."""
        for node in view.forward:
            examples = _diagonal(view, node)
            whole = 0 if examples else _summed(view, node)
            examples = examples or whole
            if examples < JACOBIAN_EXAMPLES_MIN.value:
                continue
            made, between = _jacobian(view, node)
            work = _at_once(view, made) if made is not None else []
            one = _one_number(view, work) if work else None
            if made is None or one is None or (whole and not _apart(view, one, whole)):
                continue
            nodes = (node, *between, *work)
            yield DiagonalJacobian(
                where=made.place or node.place,
                places=[each.place for each in nodes if each.place is not None],
                operations=list(dict.fromkeys(each.name for each in nodes)),
                left=1 / examples,
                examples=examples,
                zeros=bool(whole),
            )

    def report(self, evidence: Evidence, part: Part[DiagonalJacobian]) -> Finding:
        """Advise the gradient of a sum, or ``batch_jacobian``."""
        examples, zeros = often(part.cause.examples), part.cause.zeros
        used = "computes mostly zero blocks" if zeros else "used only for its diagonal"
        return self.finding(
            evidence,
            part,
            f"tape.jacobian of {examples} examples {used}",
            "Replace tape.jacobian with tape.batch_jacobian(results, inputs), which computes only the diagonal "
            "blocks. Or, if each example has one result: tape.gradient(tf.reduce_sum(scores), inputs).",
            f"An example's result depends on its own input only, so all blocks off the diagonal are zero. "
            f"{_SUM if zeros else _MIXED}",
            count("examples", part.cause.examples),
        )


_SUM = "So the sum of the diagonal blocks, or of their squares, is the sum over all blocks."
_MIXED = (
    "If a network mixes examples (batch normalisation in training, attention over the batch), batch_jacobian is wrong."
)


def _diagonal(view: View, node: Node) -> int:
    """How many examples an operation picks the blocks of; 0 if it picks no diagonal."""
    if node.type.startswith("MatrixDiagPart"):
        shape = view.shape(*node.inputs[0]) or ()
        return shape[-1] if len(shape) > 2 and shape[-1] == shape[-2] else 0
    if node.type == "Einsum" and len(node.inputs) == 1:
        labels, _, result = node.text_attr("equation").partition("->")
        twice = [each for each in labels if labels.count(each) > 1 and each in result]
        shape = view.shape(*node.inputs[0]) or ()
        return shape[labels.index(twice[0])] if twice and len(shape) == len(labels) else 0
    if node.type == "Sum":
        axes, shape = view.axes(node), view.shape(*node.inputs[0]) or ()
        other = next((axis for axis in range(1, len(shape)) if shape[axis] == shape[0]), 0)
        return shape[0] if axes and other and (0 in axes) != (other in axes) else 0
    if node.type == "GatherNd" and len(node.inputs) > 1:
        pairs, shape = view.source(node, 1), view.shape(*node.inputs[0]) or ()
        sides = [view.source(pairs, number) for number in (0, 1)] if pairs is not None and pairs.type == "Pack" else []
        ranges = len(sides) == 2 and all(each is not None and each.type == "Range" for each in sides)
        return shape[0] if ranges and len(shape) > 1 and shape[0] == shape[1] else 0
    return 0


def _summed(view: View, node: Node) -> int:
    """How many examples a jacobian has that an operation adds up as a whole; 0 if it adds up none."""
    if node.type not in ("Sum", "L2Loss"):
        return 0
    shape = view.shape(*node.inputs[0]) or ()
    axes = tuple(range(len(shape))) if node.type == "L2Loss" else view.axes(node)
    others = [axis for axis in range(1, len(shape)) if shape[axis] == shape[0]]
    return shape[0] if axes is not None and 0 in axes and others and others[-1] in axes else 0


def _one_number(view: View, work: list[Node]) -> Node | None:
    """Return the operation that takes the one result whose gradient an iteration computes. None if an iteration takes
    one number of each example, as ``batch_jacobian`` does: that has an axis as long as the batch by chance."""
    places = {node.place for node in work}
    for node in view.nodes.values():
        if node.type == "GatherV2" and _OF_ONE in f"/{node.name}" and node.place in places:
            return node if view.shape(node.name) == () else None
    return None


def _apart(view: View, one: Node, examples: int) -> bool:
    """Whether what is differentiated is made of each example alone: the blocks off the diagonal are zero."""
    flat = view.source(one, 0)
    while flat is not None and flat.type in RESHAPES:
        flat = view.source(flat, 0)
    return flat is not None and Flow(view).independent_rows(flat.name, examples)


def _jacobian(view: View, node: Node) -> tuple[Node | None, list[Node]]:
    """The operation that makes a jacobian, and those between it and ``node``, which change its order, its shape or each
    number. None if one of them has other uses."""
    current, between = view.source(node, 0), list[Node]()
    for _ in range(FOLLOWED):
        if current is None or _AT_ONCE in f"{current.name}/":
            return current, between
        if current.type not in _PASSES or current.name in view.results:
            break
        if len({use.node.name for use in view.uses(current)}) > 1:
            break
        between.append(current)
        current = view.source(current, 0)
    return None, between


def _at_once(view: View, last: Node) -> list[Node]:
    """The operations that make the gradients of a jacobian."""
    found: dict[str, Node] = {}
    pending = [last.name]
    while pending and len(found) < COLLECTED:
        node = view.nodes.get(pending.pop())
        if node is None or node.name in found or _AT_ONCE not in f"{node.name}/":
            continue
        found[node.name] = node
        pending += [owner for owner, _ in node.inputs]
    # A jacobian that is differentiated again (a penalty on gradients) has gradients of its own, made at once too.
    scopes = {name.partition(_AT_ONCE)[0] for name in found}
    for node in view.nodes.values():
        scope, at_once, _ = node.name.partition(_AT_ONCE)
        if at_once and scope.startswith(_GRADIENT) and scope.removeprefix(_GRADIENT) in scopes:
            found.setdefault(node.name, node)
    return list(found.values())
