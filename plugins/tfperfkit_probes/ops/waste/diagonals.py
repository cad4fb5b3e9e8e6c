"""A whole jacobian of which only the blocks on the diagonal are used, or are not zero: each example's result by its own
input."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import RESHAPES
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted

KIND = "diagonal"
#: ``tape.jacobian`` is one gradient for each number, made all at once: TensorFlow names what that takes so.
_AT_ONCE = "/pfor/"
_GRADIENT = "gradient_tape/"
#: In it the gradient of one number is taken.
_OF_ONE = "/loop_body/"
_MIN_EXAMPLES = 8
#: Between the jacobian and what takes the diagonal.
_DEEPEST = 8
_MAX_OPERATIONS = 20_000
_PASSES = RESHAPES | {"StridedSlice", "Transpose", "Cast", "Mul", "Neg", "Square", "Abs"}


def diagonals(view: View) -> Iterator[Wasted]:
    """By ``tf.linalg.diag_part``, an einsum such as ``bibj->bij``, ``tf.gather_nd`` by equal indices, and a sum over
    one of the two axes of examples; by a sum over both where a network takes each example alone."""
    for node in view.forward:
        examples = _diagonal(view, node)
        whole = 0 if examples else _summed(view, node)
        examples = examples or whole
        if examples < _MIN_EXAMPLES:
            continue
        made, between = _jacobian(view, node)
        work = _at_once(view, made) if made is not None else []
        one = _one_number(view, work) if work else None
        if one is None or (whole and not _apart(view, one, whole)):
            continue
        places = [each.place for each in (node, *between, *work) if each.place is not None]
        yield Wasted(
            kind=KIND,
            where=(made.place if made is not None else None) or node.place,
            places=list(dict.fromkeys(places)),
            operations=list(dict.fromkeys(each.name for each in (node, *between, *work))),
            left=1 / examples,
            figures={"examples": float(examples), "zeros": float(bool(whole))},
        )


def _diagonal(view: View, node: Node) -> int:
    """How many examples it picks the blocks of; 0 for anything else."""
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
    """How many examples a jacobian has that is added up as a whole; 0 for anything else."""
    if node.type not in ("Sum", "L2Loss"):
        return 0
    shape = view.shape(*node.inputs[0]) or ()
    axes = tuple(range(len(shape))) if node.type == "L2Loss" else view.axes(node)
    others = [axis for axis in range(1, len(shape)) if shape[axis] == shape[0]]
    return shape[0] if axes is not None and 0 in axes and others and others[-1] in axes else 0


def _one_number(view: View, work: list[Node]) -> Node | None:
    """What takes the one number of all results whose gradient is taken in a turn; None where a turn takes one of each
    example, as ``batch_jacobian``'s: that has an axis as long as the batch by chance."""
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
    """What came of many gradients at once, and what gives it another order or shape, or changes number by number; None
    where that is used otherwise."""
    current, between = view.source(node, 0), list[Node]()
    for _ in range(_DEEPEST):
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
    """The operations that make all these gradients."""
    found: dict[str, Node] = {}
    pending = [last.name]
    while pending and len(found) < _MAX_OPERATIONS:
        node = view.nodes.get(pending.pop())
        if node is None or node.name in found or _AT_ONCE not in f"{node.name}/":
            continue
        found[node.name] = node
        pending += [owner for owner, _ in node.inputs]
    # Where the jacobian is differentiated again (a penalty on gradients), that is made at once too, in its own scopes.
    scopes = {name.partition(_AT_ONCE)[0] for name in found}
    for node in view.nodes.values():
        scope, at_once, _ = node.name.partition(_AT_ONCE)
        if at_once and scope.startswith(_GRADIENT) and scope.removeprefix(_GRADIENT) in scopes:
            found.setdefault(node.name, node)
    return list(found.values())
