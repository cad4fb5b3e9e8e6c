"""What follows from a tensor place by place along its first axis: attention within each sequence of a batch does, a sum
over the batch does not. Sizes may be open."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Set

from tfperfkit.graph.in_loops import Following, SecondAxis
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, SAME, UNARY
from tfperfkit.graph.slices import whole_along
from tfperfkit.graph.view import SIZES, Use, View

_ON_FIRST = ("Conv", "DepthwiseConv", "MaxPool", "AvgPool", "Pad", "MirrorPad")
_REDUCTIONS = frozenset({"Sum", "Mean", "Max", "Min", "Prod", "Any", "All"})
_DEEPEST = 8


def following(view: View, starts: list[Node]) -> Following:
    """The forward operations after tensors of which each place along the first axis (or as many in a row) follows from
    one place of those, and from what is the same for all; in order. In a loop over the steps of sequences, too."""
    places = (view.shape(starts[0].name) or (-1,))[0] if starts else -1
    real = {node.name for node in starts}
    # What starts as one number has the same at each place: it follows with what it is joined with.
    found = real | {node.name for node in view.forward if _is_filled(view, node, places)}
    pending = [(view.order[use.node.name], use.node.name) for name in found for use in _uses(view, view.nodes[name])]
    heapq.heapify(pending)
    made: list[Node] = []
    second = SecondAxis(view)
    flops = bytes_ = 0.0
    last = -1
    while pending:
        number, name = heapq.heappop(pending)
        if number == last:
            continue
        last = number
        node = view.nodes[name]
        given = [at for at in range(len(node.inputs)) if getattr(view.source(node, at), "name", "") in found]
        outputs: Iterable[int] = range(len(node.outputs))
        loop = second.turns(node, found, following)
        if loop is not None:
            inside = loop.inside
            made += inside.nodes
            flops, bytes_ = flops + inside.flops, bytes_ + inside.bytes
            outputs = [*loop.states, *loop.lists]
        elif second.takes(node, found) or second.stacks(node):
            pass
        elif second.gives_back(node) or _keeps(view, node, given, places, found):
            found.add(name)
        else:
            continue
        if loop is not None and loop.states:
            found.add(name)
        owners = [getattr(view.source(node, at), "name", "") for at in range(len(node.inputs))]
        if loop is not None or real.intersection(owners):
            real.add(name)
            made.append(node)
        for use in (use for output in outputs for use in view.uses(node, output)):
            heapq.heappush(pending, (view.order[use.node.name], use.node.name))
    return Following(made, flops, bytes_)


def _uses(view: View, node: Node) -> list[Use]:
    return [use for output in range(len(node.outputs)) for use in view.uses(node, output)]


def _is_filled(view: View, node: Node, places: int) -> bool:
    """Whether a tensor has the same number everywhere, and a first axis of that size."""
    shape = view.shape(node.name)
    if not shape or len(shape) < 2 or shape[0] != places:
        return False
    return node.type in ("Fill", "ZerosLike", "OnesLike") or (node.type == "Const" and view.filled(node) is not None)


def _keeps(view: View, node: Node, given: list[int], places: int, found: Set[str]) -> bool:
    """Whether an operation, of whose inputs these follow, makes each place of one place."""
    kind, made = node.type, view.shape(node.name)
    shapes = [view.shape(*owner) for owner in node.inputs]
    if not made or any(not shapes[number] for number in given):
        return False
    if kind in BINARY and kind != "Select" or kind == "AddN":
        return all(
            shape is not None
            and (len(shape) == len(made) if number in given else len(shape) < len(made) or shape[0] == 1)
            for number, shape in enumerate(shapes)
        )
    if kind.startswith("BatchMatMul"):
        return len(made) > 2 and all(_in_batch(shape, len(made), at in given) for at, shape in enumerate(shapes))
    if kind == "Einsum":
        return _by_label(node, given)
    if kind == "ConcatV2":
        axis = view.integers(view.source(node, len(node.inputs) - 1))
        return axis is not None and axis[0] % len(made) != 0 and len(given) == len(node.inputs) - 1
    if kind in ("ResourceGather", "GatherV2") and given == [1]:
        return _looks_up(view, node)
    if kind == "Split" and given == [1]:
        axis = view.integers(view.source(node, 0))
        return axis is not None and axis[0] % len(made) != 0
    return given == [0] and _keeps_one(view, node, made, places, found)


def _keeps_one(view: View, node: Node, made: tuple[int, ...], places: int, found: Set[str]) -> bool:
    """The same for what takes one tensor."""
    kind, before = node.type, view.shape(*node.inputs[0]) or ()
    if kind in SAME | UNARY:
        return True
    if kind in ("Softmax", "LogSoftmax"):
        return len(made) > 1
    if kind == "MatMul":
        return not node.flag("transpose_a")
    if kind in _REDUCTIONS:
        axes = view.axes(node)
        return axes is not None and 0 not in axes
    if kind == "Transpose":
        return _first(view, view.source(node, 1)) == 0
    if kind == "Reshape":
        return _reshaped(view, node, places, found)
    if kind == "ExpandDims":
        axis = view.integers(view.source(node, 1))
        return axis is not None and axis[0] % len(made) != 0
    if kind == "Squeeze":
        axes_ = node.integers("squeeze_dims")
        return bool(axes_) and all(axis % len(before) != 0 for axis in axes_)
    if kind == "StridedSlice":
        return whole_along(view, node, 0)
    if kind == "GatherV2":
        axis, batched = view.integers(view.source(node, 2)), node.attr("batch_dims")
        return axis is not None and axis[0] % len(before) != 0 and not (batched is not None and batched.i)
    if kind.startswith("FusedBatchNorm"):
        return node.attr("is_training") is not None and not node.flag("is_training")
    return kind.startswith(_ON_FIRST)


def _looks_up(view: View, node: Node) -> bool:
    """Whether indices name whole rows of a table that is the same for all."""
    axis, batched = view.integers(view.source(node, 2)), node.attr("batch_dims")
    return (node.type == "ResourceGather" or axis == [0]) and not (batched is not None and batched.i)


def _in_batch(shape: tuple[int, ...] | None, rank: int, follows: bool) -> bool:
    """Of an operand of a product of stacks of matrices: along the first axis, or the same all along it."""
    if shape is None:
        return False
    return len(shape) == rank if follows else len(shape) < rank or shape[0] == 1


def _by_label(node: Node, given: list[int]) -> bool:
    """Of ``abc,cde->abde``: the first label of what follows stays the first one and is none of the others'."""
    operands, arrow, out = node.text_attr("equation").replace(" ", "").partition("->")
    labels = operands.split(",")
    if not arrow or not out[:1].isalpha() or len(labels) != len(node.inputs):
        return False
    return all(
        each[:1] == out[0] and each.count(out[0]) == 1 if number in given else out[0] not in each and "." not in each
        for number, each in enumerate(labels)
    )


def _reshaped(view: View, node: Node, places: int, found: Set[str]) -> bool:
    """Whether a new shape's first size is a multiple of that of the first axis, as it is where leading axes are joined,
    and where they are taken apart again."""
    before = view.shape(*node.inputs[0]) or ()
    sizes = view.integers(view.source(node, 1)) or list(view.graph.type_of(node.name).shape or ())
    rest = math.prod(sizes[1:])
    if sizes and -1 not in sizes[1:] and rest > 0:
        # All other sizes are known: what is left for the first is as many times what a place has.
        inner = before[1:] if -1 not in before[1:] else before[-1:] if len(before) > 1 else ()
        if inner and inner[-1] > 0 and math.prod(inner) % rest == 0:
            return True
        if sizes[0] > 0 and places > 0:
            return sizes[0] % places == 0
    return _is_size(view, view.source(node, 1), found, _DEEPEST)


def _is_size(view: View, node: Node | None, found: Set[str], depth: int) -> bool:
    """Whether a number, or the first of several, is the first size of a tensor that follows, or a multiple of it."""
    if node is None or not depth or not node.inputs:
        return False
    if node.type == "Shape":
        return getattr(view.source(node, 0), "name", "") in found
    if node.type in ("Pack", "ConcatV2", "Prod") or node.type in SIZES | {"Cast", "Reshape"}:
        return _is_size(view, view.source(node, 0), found, depth - 1)
    if node.type in ("GatherV2", "StridedSlice"):
        starts = _first(view, view.source(node, 1)) == 0
        begins = node.attr("begin_mask")
        starts = starts or (node.type == "StridedSlice" and begins is not None and bool(begins.i & 1))
        return starts and _is_size(view, view.source(node, 0), found, depth - 1)
    return False


def _first(view: View, node: Node | None) -> int | None:
    """The first of several integers."""
    if node is not None and node.type == "ConcatV2":
        return _first(view, view.source(node, 0))
    found = view.integers(node)
    return found[0] if found else None
