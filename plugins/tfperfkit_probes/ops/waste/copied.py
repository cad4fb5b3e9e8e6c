"""A whole variable that is copied, so that a few rows of it can be written."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "copied"
#: Of smaller variables (numbers) a copy takes next to nothing.
_MIN_NUMBERS = 4096
#: Of each the number of the input that holds what is new.
_WRITES = {
    "TensorScatterUpdate": 2,
    "TensorScatterAdd": 2,
    "TensorScatterSub": 2,
    "TensorScatterMax": 2,
    "TensorScatterMin": 2,
    "XlaDynamicUpdateSlice": 1,
}
_SLICES = frozenset({"StridedSlice", "Slice"})
#: What comes between a variable and what is computed of it.
_DEEPEST = 4


def copied(view: View) -> Iterator[Wasted]:
    """``v.assign(tf.tensor_scatter_nd_update(v, ...))``, ``v.assign(tf.where(tf.range(n)[:, None] == at, rows, v))``,
    and ``v.assign(tf.concat([v[n:], rows], 0))``, a queue, also by ``tf.roll``."""
    for node in view.forward:
        if node.type != "AssignVariableOp" or len(node.inputs) < 2:
            continue
        made = view.source(node, 1)
        written = _written(view, made, node.inputs[0][0]) if made is not None else None
        if made is None or written is None:
            continue
        count, way = written
        whole = view.elements(made.name) or 0
        if whole < _MIN_NUMBERS or count > numbers.FEW.value * whole:
            continue
        shape = view.shape(made.name) or (1,)
        operations = [*way, made, node]
        places = [each.place for each in (made, *operations) if each.place is not None]
        yield Wasted(
            kind=KIND,
            where=places[0] if places else None,
            places=list(dict.fromkeys(places)),
            operations=[each.name for each in operations],
            # What is new is read and written, in place of all.
            left=count / whole,
            figures={
                "rows": float(shape[0]),
                "written": count * shape[0] / whole,
                "numbers": float(whole),
                "numbers_written": float(count),
                "bytes": float(view.bytes(made.name)),
                "queue": float(made.type in ("ConcatV2", "Roll")),
            },
        )


def _written(view: View, made: Node, handle: str) -> tuple[int, list[Node]] | None:
    """How many numbers are new in a tensor that else is the variable's own, and the operations that read that."""
    whole = view.elements(made.name) or 0
    if made.type in _WRITES and len(made.inputs) > _WRITES[made.type]:
        way = _read(view, made, 0, handle)
        return (view.elements(*made.inputs[_WRITES[made.type]]) or whole, way) if way is not None else None
    if made.type in ("Select", "SelectV2"):
        return _selected(view, made, handle, whole)
    if made.type == "Roll":
        shift, way = view.integers(view.source(made, 1)), _read(view, made, 0, handle)
        axis, shape = view.integers(view.source(made, 2)), view.shape(made.name)
        rows = abs(shift[0]) if shift is not None and axis == [0] and len(shift) == 1 else None
        return (rows * whole // shape[0], way) if rows and shape and way is not None else None
    if made.type != "ConcatV2":
        return None
    new = 0
    old: list[Node] = []
    for number, owner in enumerate(made.inputs[:-1]):
        slice_ = view.source(made, number)
        way = _read(view, slice_, 0, handle) if slice_ is not None and slice_.type in _SLICES else None
        if way is None or slice_ is None:
            new += view.elements(*owner) or whole
        else:
            old += [*way, slice_]
    return (new, old) if old and new else None


def _selected(view: View, made: Node, handle: str, whole: int) -> tuple[int, list[Node]] | None:
    """Of a choice between new rows and the variable's own, by comparing the number of each row with few."""
    rows = (view.shape(made.name) or (1,))[0]
    for number in (1, 2):
        way = _read(view, made, number, handle)
        mask = view.source(made, 0)
        while mask is not None and (view.reshapes(mask) or mask.type in ("Cast", "BroadcastTo")):
            mask = view.source(mask, 0)
        if way is None or mask is None or mask.type != "Equal" or number == 1:
            continue
        sides = [(view.source(mask, side), view.elements(*mask.inputs[side]) or whole) for side in (0, 1)]
        for (numbers_, count), (_, few) in (sides, sides[::-1]):
            while numbers_ is not None and view.reshapes(numbers_):
                numbers_ = view.source(numbers_, 0)
            if count == rows and numbers_ is not None and _counts(view, numbers_, rows):
                return few * whole // rows, [*way, mask]
    return None


def _counts(view: View, node: Node, rows: int) -> bool:
    """Whether it is ``tf.range(rows)``: each number once."""
    return node.type == "Range" or view.integers(node) == list(range(rows))


def _read(view: View, node: Node, number: int, handle: str) -> list[Node] | None:
    """The operations that bring a variable's value to an input; None where it is something else."""
    way: list[Node] = []
    current = view.source(node, number)
    while current is not None and len(way) < _DEEPEST:
        way.append(current)
        if current.type == "ReadVariableOp":
            return way if current.inputs and current.inputs[0][0] == handle else None
        if current.type not in ("Cast", "Roll"):
            return None
        current = view.source(current, 0)
    return None
