"""Which axis of a tensor has the rows of another one, each made of that row alone.

The transfer functions follow the column ``axis`` of the table of operations. Operations that they don't know mix rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.slices import kept_axis
from tfperfkit.graph.view import View

Shape = tuple[int, ...]


class Rows(NamedTuple):
    """The state of a tensor.

    ``mixed``: an element may depend on several rows, or on something that differs from call to call. ``axis``: None if
    no element depends on any row; else the elements at index ``i * block`` to ``(i + 1) * block - 1`` of this axis
    depend on row ``i`` alone. ``block`` is 0 if it is not known. ``uniform``: all rows are treated alike, for what is
    joined with them is the same for each; of a tensor without rows, it has the same number everywhere. ``lists``: the
    state is that of the elements of a list of tensors, of lists so deep.
    """

    mixed: bool = False
    axis: int | None = None
    block: int = 1
    uniform: bool = True
    lists: int = 0

    @property
    def follows(self) -> bool:
        """Return whether the tensor has the rows along an axis of its own."""
        return not self.mixed and self.axis is not None and not self.lists


MIXED = Rows(mixed=True, uniform=False)
#: Doesn't depend on the rows; has the same number everywhere as well.
FIXED = Rows(uniform=False)
UNIFORM = Rows()
#: The ranks below which operations that work example by example take a single example.
_EXAMPLE_RANK = {"image": 4}
_DEEPEST = 8


class RowAnalysis:
    """An analysis for ``interpret``."""

    unknown = MIXED

    def __init__(self) -> None:
        #: By graph and operation: of what ``tf.shape`` was asked.
        self._shaped: dict[tuple[str, str], Rows] = {}

    def join(self, one: Rows, other: Rows) -> Rows:
        """Either of two: what has no rows goes with what has them."""
        if one.mixed or other.mixed:
            return MIXED
        uniform = one.uniform and other.uniform
        if one.axis is None or other.axis is None:
            return (one if other.axis is None else other)._replace(uniform=uniform)
        alike = (one.axis, one.block, one.lists) == (other.axis, other.block, other.lists)
        return one._replace(uniform=uniform) if alike else MIXED

    def chosen(self, condition: Rows, branches: Rows) -> Rows:
        """Follow a condition: one that depends on the rows chooses for all rows."""
        return branches if condition.axis is None and not condition.mixed else MIXED

    def operation(self, view: View, node: Node, inputs: Sequence[Rows]) -> Sequence[Rows]:
        """Return the states of an operation's outputs."""
        row = optable.row(node.type)
        if row.kind == "shape":
            if len(inputs) == 1:
                self._shaped[view.graph.name, node.name] = inputs[0]
            return (UNIFORM if _is_one_number(view, node) else FIXED,)
        if row.varies or any(state.mixed for state in inputs):
            return (MIXED,)
        given = [number for number, state in enumerate(inputs) if state.axis is not None]
        if not given:
            return (_without_rows(view, node, row, inputs),)
        if row.kind == "tensor-list":
            return (_of_list(view, node, inputs, given),)
        if any(inputs[number].lists for number in given):
            return tuple(inputs) if row.kind == "pass" else (MIXED,)
        if node.type == "IdentityN":
            return tuple(inputs)
        rule = _NAMED.get(row.kind) if row.axis == "named" else _RULES.get(row.axis)
        made = rule(_Taken(view, node, inputs, given, self._shaped)) if rule is not None else MIXED
        return (made,) if row.kind != "batch-norm" else (made, MIXED, MIXED, MIXED, MIXED, MIXED)


def _is_one_number(view: View, node: Node) -> bool:
    """Return whether a tensor is a scalar. A list of tensors has the shape of one, whatever it holds."""
    return view.shape(node.name) == () and view.graph.type_of(node.name).dtype not in ("variant", "resource")


def _without_rows(view: View, node: Node, row: optable.Row, inputs: Sequence[Rows]) -> Rows:
    """Whether a tensor without rows has the same number everywhere."""
    alike = (
        _is_one_number(view, node)
        or row.kind in ("fill", "fill-like")
        or node.type in ("TensorListReserve", "EmptyTensorList")
        or (node.type in ("TensorListSetItem", "TensorListPushBack") and all(state.uniform for state in inputs))
        or (row.kind == "constant" and view.filled(node) is not None)
        or (row.axis in ("each", "reshape", "transpose", "named") and bool(inputs) and _all_uniform(row, inputs))
    )
    return UNIFORM if alike else FIXED


def _all_uniform(row: optable.Row, inputs: Sequence[Rows]) -> bool:
    """For operations that change the shape alone, the first input counts."""
    if row.axis == "each":
        return all(state.uniform for state in inputs)
    return row.axis != "named" and inputs[0].uniform


class _Taken:
    """An operation with what it takes: ``given`` are the numbers of the inputs that have rows."""

    def __init__(
        self,
        view: View,
        node: Node,
        inputs: Sequence[Rows],
        given: Sequence[int],
        shaped: Mapping[tuple[str, str], Rows] | None = None,
    ) -> None:
        self.shaped = shaped or {}
        self.view = view
        self.node = node
        self.inputs = inputs
        self.given = given
        self.first = inputs[given[0]]

    def shape(self, number: int) -> Shape | None:
        return self.view.shape(*self.node.inputs[number])

    @property
    def made(self) -> Shape | None:
        return self.view.shape(self.node.name)

    def integers(self, number: int) -> list[int] | None:
        return self.view.integers(self.view.source(self.node, number))

    def only(self, number: int) -> tuple[Shape, int] | None:
        """Return the shape of the only input with rows, and their axis; None if another one has them, or no rank is
        known."""
        shape = self.shape(number) if list(self.given) == [number] else None
        axis = self.inputs[number].axis
        return (shape, axis) if shape is not None and axis is not None and axis < len(shape) else None

    def along(self, axis: int, *, uniform: bool = True) -> Rows:
        """Return the rows along another axis."""
        return self.first._replace(axis=axis, uniform=self.first.uniform and uniform)


def _each(taken: _Taken) -> Rows:
    """Element by element, shapes aligned at their last axes."""
    made = taken.made
    if made is None or taken.node.type == "Select" and len({taken.shape(number) for number in range(3)}) > 1:
        return MIXED
    return _aligned(taken, made, len(made), range(len(taken.inputs)))


def _aligned(taken: _Taken, made: Shape, rank: int, numbers: Sequence[int]) -> Rows:
    """Return the rows of inputs whose axes are broadcast together, counted from the last of ``rank`` axes."""
    found: Rows | None = None
    uniform = True
    for number in numbers:
        shape, state = taken.shape(number), taken.inputs[number]
        if state.axis is None or shape is None:
            continue
        axis = rank - (len(shape) - state.axis)
        if axis < 0 or shape[state.axis] != made[axis]:
            return MIXED  # one row may be for many places
        moved = state._replace(axis=axis, uniform=True)
        if found not in (None, moved):
            return MIXED
        found, uniform = moved, uniform and state.uniform
    if found is None or any(taken.shape(number) is None for number in taken.given):
        return MIXED
    for number in numbers:
        if taken.inputs[number].axis is None:
            uniform = uniform and _same_along(taken, number, rank, found.axis or 0)
    return found._replace(uniform=uniform)


def _same_along(taken: _Taken, number: int, rank: int, axis: int) -> bool:
    """Return whether a tensor without rows has the same at each place of an axis that it is broadcast along."""
    shape = taken.shape(number)
    if shape is None or taken.inputs[number].uniform:
        return shape is not None
    at = axis - (rank - len(shape))
    return at < 0 or shape[at] == 1


def _reduced(taken: _Taken) -> Rows:
    only = taken.only(0)
    axes = taken.view.axes(taken.node) if only else None
    if only is None or axes is None or only[1] in axes:
        return MIXED
    kept = taken.node.flag("keep_dims")
    return taken.along(only[1] if kept else only[1] - sum(axis < only[1] for axis in axes))


def _scanned(taken: _Taken) -> Rows:
    only, axes = taken.only(0), taken.integers(1)
    apart = only is not None and axes is not None and all(axis % len(only[0]) != only[1] for axis in axes)
    return taken.first if apart else MIXED


def _within(last: int) -> Callable[[_Taken], Rows]:
    """Apply an operation that works on the last axes; an output may lack some of these axes."""

    def rule(taken: _Taken) -> Rows:
        shapes = {number: shape for number in taken.given if (shape := taken.shape(number)) is not None}
        ranks = {len(shape) for shape in shapes.values()}
        states = {taken.inputs[number]._replace(uniform=True) for number in taken.given}
        others = [n for n in range(len(taken.inputs)) if n not in taken.given and len(taken.shape(n) or ()) > 1]
        axis = taken.first.axis
        if len(shapes) < len(taken.given) or len(ranks) != 1 or len(states) != 1 or axis is None:
            return MIXED
        if axis >= ranks.pop() - last or any(len(taken.shape(n) or ()) > last for n in others):
            return MIXED
        return taken.along(axis, uniform=all(taken.inputs[number].uniform for number in taken.given))

    return rule


def _diagonal(taken: _Taken) -> Rows:
    """Return the last two axes of a matrix, or of its diagonals; what is before them stays."""
    only = taken.only(0)
    if only is None or any(len(taken.shape(number) or (0,)) > 0 for number in range(1, len(taken.inputs))):
        return MIXED
    last = 1 if taken.node.type == "MatrixDiag" else 2
    return taken.first if only[1] < len(only[0]) - last else MIXED


def _of_examples(taken: _Taken) -> Rows:
    """Example by example along the first axis."""
    kind = optable.row(taken.node.type).kind
    shapes = [taken.shape(number) for number in taken.given]
    alike = all(taken.inputs[number].axis == 0 and taken.inputs[number].block == 1 for number in taken.given)
    if not alike or any(shape is None or len(shape) < _EXAMPLE_RANK.get(kind, 2) for shape in shapes):
        return MIXED
    if kind == "convolution" and 1 in taken.given:  # the filter
        return MIXED
    uniform = all(taken.inputs[number].uniform for number in taken.given)
    for number, state in enumerate(taken.inputs):
        # Another tensor of examples, which is not that of the rows: the labels of a loss, what was pooled.
        if state.axis is None and not (kind == "convolution" and number == 1):
            uniform = uniform and len(taken.shape(number) or ()) < min(len(shapes[0] or ()), 2)
    if kind == "loss" and len({(taken.shape(number) or (None,))[0] for number in (0, 1)}) > 1:
        return MIXED
    return taken.along(0, uniform=uniform)


def _bias(taken: _Taken) -> Rows:
    only = taken.only(0)
    if only is None or len(only[0]) < 2:
        return MIXED
    return taken.along(only[1], uniform=only[1] != _channels(taken, len(only[0])))


def _batch_norm(taken: _Taken) -> Rows:
    """In inference each channel is scaled and shifted."""
    only, trained = taken.only(0), taken.node.attr("is_training")
    if only is None or trained is None or trained.b:
        return MIXED
    return taken.along(only[1], uniform=only[1] != _channels(taken, len(only[0])))


def _channels(taken: _Taken, rank: int) -> int:
    """Return the axis of the channels."""
    return 1 if taken.node.text_attr("data_format").startswith("NC") else rank - 1


def _matmul(taken: _Taken) -> Rows:
    number = taken.given[0]
    only = taken.only(number)
    if only is None or number > 1:
        return MIXED
    transposed = taken.node.flag("transpose_b" if number else "transpose_a")
    inner = (1 if transposed else 0) if number else (0 if transposed else 1)
    return taken.along(number) if only[1] != inner else MIXED


def _batch_matmul(taken: _Taken) -> Rows:
    made = taken.made
    shapes = [taken.shape(number) for number in (0, 1)]
    if made is None or any(shape is None or len(shape) < 2 for shape in shapes) or any(n > 1 for n in taken.given):
        return MIXED
    ranks = [len(shape or ()) for shape in shapes]
    if all((taken.inputs[number].axis or 0) < ranks[number] - 2 for number in taken.given):
        return _aligned(taken, made, len(made), (0, 1))
    only = taken.only(taken.given[0])
    if only is None:
        return MIXED
    number = taken.given[0]
    transposed = taken.node.flag("adj_y" if number else "adj_x")
    outer = len(only[0]) - 1 - (number == 0) if not transposed else len(only[0]) - 1 - (number == 1)
    return taken.along(len(made) - 2 + number) if only[1] == outer else MIXED


def _einsum(taken: _Taken) -> Rows:
    """Of ``abc,cde->abde``: the label of the rows stays, stands once in each operand, and is the same in all."""
    operands, arrow, out = taken.node.text_attr("equation").replace(" ", "").partition("->")
    labels = operands.split(",")
    if not arrow or "." in operands or len(labels) != len(taken.inputs):
        return MIXED
    found = set()
    for number in taken.given:
        axis = taken.inputs[number].axis
        if axis is None or axis >= len(labels[number]):
            return MIXED
        found.add(labels[number][axis])
    label = found.pop()
    if found or out.count(label) != 1 or any(each.count(label) > 1 for each in labels):
        return MIXED
    if any(label in each and number not in taken.given for number, each in enumerate(labels)):
        return taken.along(out.index(label), uniform=False)
    blocks = {taken.inputs[number].block for number in taken.given}
    uniform = all(taken.inputs[number].uniform for number in taken.given)
    return taken.along(out.index(label), uniform=uniform) if len(blocks) == 1 else MIXED


def _transpose(taken: _Taken) -> Rows:
    only, order = taken.only(0), taken.integers(1)
    return taken.along(order.index(only[1])) if only and order and only[1] in order else MIXED


def _reshape(taken: _Taken) -> Rows:
    only, made = taken.only(0), taken.made
    if only is None or made is None:
        return MIXED
    before, axis = only
    if taken.node.type == "ExpandDims":
        at = taken.integers(1)
        return MIXED if at is None else taken.along(axis + (at[0] % len(made) <= axis))
    if taken.node.type == "Squeeze":
        sizes = [at % len(before) for at in taken.node.integers("squeeze_dims")]
        if not sizes and -1 not in before:
            sizes = [at for at, size in enumerate(before) if size == 1]
        return taken.along(axis - sum(at < axis for at in sizes)) if sizes and axis not in sizes else MIXED
    asked = _sizes(taken.view, taken.view.source(taken.node, 1))
    known = asked if asked is not None and len(asked) == len(made) else made
    return _regrouped(taken, before, axis, tuple(map(max, made, known)))


def _sizes(view: View, node: Node | None) -> list[int] | None:
    """Return the sizes that a new shape asks for, -1 for those that are not known; None if it is not known how many."""
    whole = view.integers(node)
    if whole is not None or node is None:
        return whole
    kind = optable.row(node.type).kind
    if kind == "stack":
        return [(view.integers(view.made(*owner)) or [-1])[0] for owner in node.inputs]
    if kind == "concat" and node.type == "ConcatV2":
        parts = [_sizes(view, view.made(*owner)) for owner in node.inputs[:-1]]
        return [size for part in parts if part is not None for size in part] if None not in parts else None
    shape = view.shape(node.name)
    return [-1] * shape[0] if shape and shape[0] >= 0 else None


def _regrouped(taken: _Taken, before: Shape, axis: int, made: Shape) -> Rows:
    """Return the same numbers in another shape: the axis of the rows begins where it began, and a row stays whole."""
    outer, inner = list(before[:axis]), list(before[axis + 1 :])
    at = _places_before(outer, made)
    while at is not None and before[axis] != 1 and at + 1 < len(made) and made[at] == 1:
        at += 1
    if at is None or at >= len(made):
        return MIXED
    rest = list(made[at + 1 :])
    while inner and rest and inner[-1] == rest[-1] != -1:
        inner.pop(), rest.pop()
    if inner == rest == [-1] and made[at] == before[axis] != -1:
        return taken.along(at)
    block = taken.first.block
    if not rest:  # a row has all that was in it, and perhaps more places than one
        return taken.first._replace(axis=at, block=block * math.prod(inner) if -1 not in inner else 0)
    if -1 not in inner and -1 not in rest and block and 0 not in rest:
        per_row = block * math.prod(inner)
        if per_row % math.prod(rest) == 0:
            return taken.first._replace(axis=at, block=per_row // math.prod(rest))
    # Joined axes are taken apart again, by the size that they had.
    if at == 0 and not outer and _counts_rows(taken, taken.view.source(taken.node, 1), _DEEPEST):
        return taken.first._replace(axis=0, block=1)
    return MIXED


def _places_before(outer: list[int], made: Shape) -> int | None:
    """Return how many of the new axes stand for these that are before the rows; None if they are divided otherwise."""
    if not outer:
        return 0
    if list(made[: len(outer)]) == outer and outer.count(-1) <= 1:
        return len(outer)
    if -1 in outer:
        return None
    wanted, product = math.prod(outer), 1
    for at, size in enumerate(made):
        if product == wanted:
            return at
        product *= size
    return None


def _counts_rows(taken: _Taken, node: Node | None, depth: int) -> bool:
    """Return whether the first of several sizes is the number of the rows: the size of the axis of a tensor that has
    them."""
    if node is None or not depth or not node.inputs:
        return False
    view, kind = taken.view, optable.row(node.type).kind
    if node.type == "Shape":
        state = taken.shaped.get((view.graph.name, node.name))
        return state is not None and state.follows and state.axis == 0 and state.block == 1
    if kind in ("stack", "concat") or node.type in ("Cast", "Reshape"):
        return _counts_rows(taken, view.source(node, 0), depth - 1)
    if node.type in ("StridedSlice", "GatherV2"):
        begins = view.integers(view.source(node, 1))
        from_start = node.attr("begin_mask")
        masked = node.type == "StridedSlice" and from_start is not None and bool(from_start.i & 1)
        return (masked or (begins or [1])[0] == 0) and _counts_rows(taken, view.source(node, 0), depth - 1)
    return False


def _moved(taken: _Taken) -> Rows:
    """Reverse and roll: other places of some axes."""
    only, axes = taken.only(0), taken.integers(2 if taken.node.type == "Roll" else 1)
    if only is None or axes is None or taken.node.type == "Reverse":
        return MIXED
    return taken.first if all(axis % len(only[0]) != only[1] for axis in axes) else MIXED


def _padded(taken: _Taken) -> Rows:
    only, sizes = taken.only(0), taken.integers(1)
    if only is None or sizes is None or len(sizes) != 2 * len(only[0]):
        return MIXED
    return taken.first if sizes[2 * only[1]] == sizes[2 * only[1] + 1] == 0 else MIXED


def _tiled(taken: _Taken) -> Rows:
    only, made, sizes = taken.only(0), taken.made, taken.integers(1)
    if only is None or made is None:
        return MIXED
    before, axis = only
    if taken.node.type == "BroadcastTo":
        at = len(made) - len(before) + axis
        return taken.along(at) if at >= 0 and made[at] == before[axis] != -1 else MIXED
    return taken.first if sizes is not None and len(sizes) > axis and sizes[axis] == 1 else MIXED


def _sliced(taken: _Taken) -> Rows:
    only = taken.only(0)
    axis = kept_axis(taken.view, taken.node, only[1]) if only is not None else None
    return MIXED if axis is None else taken.along(axis)


def _split(taken: _Taken) -> Rows:
    data, axis_input = (1, 0) if taken.node.type == "Split" else (0, 2)
    only, axes = taken.only(data), taken.integers(axis_input)
    return taken.first if only and axes is not None and axes[0] % len(only[0]) != only[1] else MIXED


def _joined(taken: _Taken) -> Rows:
    """Concatenated along another axis."""
    first, numbers = taken.node.type == "Concat", range(len(taken.inputs))
    data = [number for number in numbers if number != (0 if first else len(taken.inputs) - 1)]
    made, axes = taken.made, taken.integers(0 if first else len(taken.inputs) - 1)
    if made is None or axes is None:
        return MIXED
    found = _aligned(taken, made, len(made), data)
    return found if found.axis != axes[0] % len(made) else MIXED


def _stacked(taken: _Taken) -> Rows:
    shape, made, at = taken.shape(taken.given[0]), taken.made, taken.node.attr("axis")
    states = {taken.inputs[number]._replace(uniform=True) for number in taken.given}
    if not shape or made is None or len(states) != 1 or taken.node.type != "Pack" or taken.first.axis is None:
        return MIXED
    new = (at.i if at is not None else 0) % len(made)
    uniform = all(state.uniform for state in taken.inputs)
    return taken.along(taken.first.axis + (new <= taken.first.axis), uniform=uniform)


def _unstacked(taken: _Taken) -> Rows:
    only, at = taken.only(0), taken.node.attr("axis")
    if only is None:
        return MIXED
    gone = (at.i if at is not None else 0) % len(only[0])
    return taken.along(only[1] - (gone < only[1])) if gone != only[1] else MIXED


def _one_hot(taken: _Taken) -> Rows:
    only, made, at = taken.only(0), taken.made, taken.node.attr("axis")
    if only is None or made is None:
        return MIXED
    new = (at.i if at is not None else -1) % len(made)
    return taken.along(only[1] + (new <= only[1]))


def _gathered(taken: _Taken) -> Rows:
    """Rows of a table looked up by indices that have the rows; or parts of each row taken by fixed indices."""
    node, batched = taken.node, taken.node.attr("batch_dims")
    before = batched.i if batched is not None else 0
    if node.type == "GatherNd" or node.type == "ResourceGatherNd":
        only = taken.only(1)
        return taken.first if only is not None and not before and only[1] < len(only[0]) - 1 else MIXED
    axes = taken.integers(2) if node.type == "GatherV2" else [0]
    params, indices = taken.shape(0), taken.shape(1)
    if axes is None or indices is None or before < 0 or taken.first.axis is None:
        return MIXED
    if node.type == "ResourceGather":
        return taken.first if list(taken.given) == [1] and not before else MIXED
    if params is None or 2 in taken.given:
        return MIXED
    axis, at = axes[0] % len(params), taken.first.axis
    if at < before:
        states = {taken.inputs[number]._replace(uniform=True) for number in taken.given}
        uniform = len(taken.given) == 2 and all(taken.inputs[number].uniform for number in taken.given)
        return taken.along(at, uniform=uniform) if len(states) == 1 else MIXED
    if list(taken.given) == [1]:
        return taken.along(axis + at - before)
    if list(taken.given) != [0] or at == axis:
        return MIXED
    return taken.along(at if at < axis else at - 1 + len(indices) - before)


def _of_list(view: View, node: Node, inputs: Sequence[Rows], given: Sequence[int]) -> Rows:
    """Lists of tensors: each element has the rows along the same axis."""
    taken, state = _Taken(view, node, inputs, given), inputs[given[0]]
    if node.type == "TensorListFromTensor" and taken.only(0) is not None and state.axis:
        return state._replace(axis=state.axis - 1, lists=state.lists + 1)
    if node.type == "TensorListStack" and list(given) == [0] and state.lists == 1 and state.axis is not None:
        return state._replace(axis=state.axis + 1, lists=0)
    if node.type == "TensorListGetItem" and list(given) == [0] and state.lists == 1:
        return state._replace(lists=0)
    if node.type in ("TensorListSetItem", "TensorListPushBack"):
        number = 2 if node.type == "TensorListSetItem" else 1
        if any(each not in (0, number) for each in given) or inputs[number].lists:
            return MIXED
        item, kept = inputs[number]._replace(lists=1), inputs[0]._replace(lists=1)
        uniform = item.uniform and kept.uniform
        if item.axis is None or kept.axis is None:  # an empty list, or one of what is the same for all rows
            return (item if kept.axis is None else kept)._replace(uniform=uniform)
        return item._replace(uniform=uniform) if item[:3] == kept[:3] else MIXED
    return state if node.type in ("TensorListResize",) and list(given) == [0] else MIXED


_RULES: dict[str, Callable[[_Taken], Rows]] = {
    "each": _each,
    "reduced": _reduced,
    "scanned": _scanned,
    "within": _within(1),
    "within2": _within(2),
    "diagonal": _diagonal,
    "first": _of_examples,
    "bias": _bias,
    "batch-norm": _batch_norm,
    "matmul": _matmul,
    "batch-matmul": _batch_matmul,
    "einsum": _einsum,
    "transpose": _transpose,
    "reshape": _reshape,
    "gather": _gathered,
}
_NAMED: dict[str, Callable[[_Taken], Rows]] = {
    "reverse": _moved,
    "pad": _padded,
    "tile": _tiled,
    "slice": _sliced,
    "split": _split,
    "concat": _joined,
    "stack": _stacked,
    "unstack": _unstacked,
    "one-hot": _one_hot,
}
