"""A whole variable that is copied, so that a few rows of it can be written."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.graph import Node
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers
from tfperfkit_probes.ops.waste.view import View

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
    """``v.assign(tf.tensor_scatter_nd_update(v, ...))``, and ``v.assign(tf.concat([v[n:], rows], 0))``, a queue."""
    for node in view.forward:
        if node.type != "AssignVariableOp" or len(node.inputs) < 2:
            continue
        made = view.source(node, 1)
        written = _written(view, made, node.inputs[0][0]) if made is not None else None
        if made is None or written is None:
            continue
        new, way = written
        whole = view.elements(made.name) or 0
        count = sum(view.elements(*each) or whole for each in new)
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
                "queue": float(made.type == "ConcatV2"),
            },
        )


def _written(view: View, made: Node, handle: str) -> tuple[list[tuple[str, int]], list[Node]] | None:
    """What is new in a tensor that else is the variable's own, and the operations that read that."""
    if made.type in _WRITES and len(made.inputs) > _WRITES[made.type]:
        way = _read(view, made, 0, handle)
        return ([made.inputs[_WRITES[made.type]]], way) if way is not None else None
    if made.type != "ConcatV2":
        return None
    new: list[tuple[str, int]] = []
    old: list[Node] = []
    for number, owner in enumerate(made.inputs[:-1]):
        slice_ = view.source(made, number)
        way = _read(view, slice_, 0, handle) if slice_ is not None and slice_.type in _SLICES else None
        if way is None or slice_ is None:
            new.append(owner)
        else:
            old += [*way, slice_]
    return (new, old) if old and new else None


def _read(view: View, node: Node, number: int, handle: str) -> list[Node] | None:
    """The operations that bring a variable's value to an input; None where it is something else."""
    way: list[Node] = []
    current = view.source(node, number)
    while current is not None and len(way) < _DEEPEST:
        way.append(current)
        if current.type == "ReadVariableOp":
            return way if current.inputs and current.inputs[0][0] == handle else None
        if current.type != "Cast":
            return None
        current = view.source(current, 0)
    return None
