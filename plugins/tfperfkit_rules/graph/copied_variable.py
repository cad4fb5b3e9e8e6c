"""GRF019: a whole variable is copied to write a few rows, or a gradient of few rows becomes a whole table."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.view import FOLLOWED, View
from tfperfkit.model import Finding
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

COPIED_NUMBERS_MIN = Threshold(
    4096,
    "numbers",
    "minimum size of a copied variable: a copy of a smaller one takes no time",
    Chosen("a few cache lines"),
)
WRITTEN_MAX = Threshold(
    0.25,
    "share",
    "maximum share of the rows or numbers of a variable that are new, for the copies of the rest to be waste",
    Chosen("what is saved must outweigh scattering"),
)
_WRITTEN_OVER = optable.names(trait="copies-first")
_SLICES = ("StridedSlice", "Slice")
#: ``v.assign(v + g)``.
_SHIFTS = optable.names(trait="shifts")
#: Operations that keep zero rows at zero: a number times the gradient.
_KEEPS_ZEROS = optable.names(trait="scales") | {"Neg", "Cast"}
_IN_PLACE = (
    "Write into the variable: v.scatter_nd_update(indices, rows) instead of "
    "v.assign(tf.tensor_scatter_nd_update(v, indices, rows)). Or, for sums: v.scatter_nd_add. A keras.Variable has "
    "these methods at its .value."
)
_RING = (
    "Overwrite the oldest rows in place: places = (start + tf.range(n)) % size, "
    "queue.scatter_update(tf.IndexedSlices(rows, places)), start.assign((start + n) % size). If the order matters, "
    "read the queue with tf.roll."
)
_ROWS_ALONE = (
    "Add only the rows of the gradient: total.scatter_add(g) instead of total.assign_add(tf.convert_to_tensor(g)), if "
    "isinstance(g, tf.IndexedSlices). Or, with a factor: scatter_sub(tf.IndexedSlices(rate * g.values, g.indices)). A "
    "keras.Variable has these methods at its .value."
)


class RowsOfTable(Cause, frozen=True, kw_only=True):
    """``rows`` of a table are read and written although ``written`` rows would do (a part of a row if less than 1).

    ``table_bytes``: the table's size.
    """

    rows: int
    written: float
    table_bytes: int

    @property
    def key(self) -> Hashable:
        """A copy and a sum of one line are two causes."""
        return type(self), self.where


class CopiedRows(RowsOfTable, frozen=True, kw_only=True):
    """A variable is copied. ``numbers`` it has, of which ``numbers_written`` are new. ``queue``: its rows move on."""

    numbers: int
    numbers_written: int
    queue: bool


class SummedTable(RowsOfTable, frozen=True, kw_only=True):
    """A gradient that names its rows becomes a table, which is added to a variable."""


class CopiedVariable(GraphRule[RowsOfTable]):
    """Recognised by a variable that is assigned its own value with a part of it written over, or a sum into zeros.

    ``v.assign(tf.tensor_scatter_nd_update(v, ...))``, ``v.assign(tf.where(tf.range(n)[:, None] == at, rows, v))``, and
    ``v.assign(tf.concat([v[n:], rows], 0))``, a queue, also by ``tf.roll``. ``v.assign_add(tf.convert_to_tensor(g))``
    of the gradient of a lookup, which names its rows: TensorFlow makes a table of it by a sum into zeros. A moving
    average, which changes the other rows too, is none.
    """

    code = "GRF019"
    title = "Whole tf.Variable copied to write a few rows"
    remedy = ReplaceOps("in_place")

    def find(self, view: View) -> Iterator[RowsOfTable]:
        """Yield the variables of which few rows are written, and the gradients of few rows."""
        for node in view.forward:
            found = _copied(view, node) or _summed(view, node)
            if found is not None:
                yield found

    def report(self, evidence: Evidence, part: Part[RowsOfTable]) -> Finding:
        """Advise to write or add the rows alone."""
        cause = part.cause
        if not isinstance(cause, CopiedRows):
            return self.finding(
                evidence,
                part,
                f"Whole tf.Variable of {often(cause.rows)} rows updated to add {often(cause.written)}",
                _ROWS_ALONE,
                "The gradient becomes a dense table of mostly zeros, and each batch reads and writes all of it and "
                "all of the variable.",
                count("rows of the table", cause.rows),
                count("rows in the gradient", cause.written),
                count("bytes of the table", cause.table_bytes, "bytes"),
            )
        what, whole, written = "rows", float(cause.rows), cause.written
        if written < 1:  # single numbers here and there are no rows
            what, whole, written = "numbers", cause.numbers, cause.numbers_written
        return self.finding(
            evidence,
            part,
            f"Whole tf.Variable of {often(whole)} {what} copied to write {often(written)}",
            _RING if cause.queue else _IN_PLACE,
            "tf.tensor_scatter_nd_update (or tf.where, tf.concat, tf.roll) makes a new tensor as large as the "
            "variable, so "
            "each call reads and writes all of it. A scatter method of the variable writes only the named rows.",
            count("bytes of the variable", cause.table_bytes, "bytes"),
            count(f"{what} of the variable", whole),
            count(f"{what} written", written),
        )


def _copied(view: View, node: Node) -> CopiedRows | None:
    """Find a variable that gets its own value with a few rows written over."""
    made = view.source(node, 1) if node.type == "AssignVariableOp" and len(node.inputs) > 1 else None
    written = _written(view, made, node.inputs[0][0]) if made is not None else None
    if made is None or written is None:
        return None
    new, way = written
    whole = view.elements(made.name) or 0
    if whole < COPIED_NUMBERS_MIN.value or new > WRITTEN_MAX.value * whole:
        return None
    rows = (view.shape(made.name) or (1,))[0]
    operations = [*way, made, node]
    places = [each.place for each in (made, *operations) if each.place is not None]
    return CopiedRows(
        where=places[0] if places else None,
        places=places,
        operations=[each.name for each in operations],
        left=new / whole,  # what is new is read and written instead of all
        rows=rows,
        written=new * rows / whole,
        table_bytes=view.bytes(made.name),
        numbers=whole,
        numbers_written=new,
        queue=made.type in ("ConcatV2", "Roll"),
    )


def _summed(view: View, node: Node) -> SummedTable | None:
    """Find a gradient of few rows that becomes a table and is added to a variable."""
    way = _way(view, node)
    if not way:
        return None
    spread = way[-1]
    shape, named = view.shape(spread.name), view.elements(*spread.inputs[1])
    whole = view.elements(spread.name)
    if not shape or not whole or not named or whole < COPIED_NUMBERS_MIN.value or named > WRITTEN_MAX.value * shape[0]:
        return None
    operations = [each.name for each in (*reversed(way), node)]
    places = [each.place for each in (node, *way) if each.place is not None]
    return SummedTable(
        where=places[0] if places else None,
        places=places,
        operations=operations,
        updates=operations,
        left=named / shape[0],
        rows=shape[0],
        written=named,
        table_bytes=view.bytes(spread.name),
    )


def _written(view: View, made: Node, handle: str) -> tuple[int, list[Node]] | None:
    """How many numbers are new in a tensor that is else the variable's, and the operations that read the variable."""
    whole = view.elements(made.name) or 0
    if made.type in _WRITTEN_OVER and len(made.inputs) > 1:
        new = 1 if made.type == "XlaDynamicUpdateSlice" else 2
        way = _read(view, made, 0, handle)
        return (view.elements(*made.inputs[new]) or whole, way) if way is not None else None
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
    """As ``_written``, of a choice between new rows and the variable's by comparing the number of each row with few."""
    rows = (view.shape(made.name) or (1,))[0]
    for number in (1, 2):
        way = _read(view, made, number, handle)
        mask = view.source(made, 0)
        while mask is not None and (view.reshapes(mask) or mask.type in ("Cast", "BroadcastTo")):
            mask = view.source(mask, 0)
        if way is None or mask is None or mask.type != "Equal" or number == 1:
            continue
        sides = [(view.source(mask, side), view.elements(*mask.inputs[side]) or whole) for side in (0, 1)]
        for (numbers_, made_of), (_, few) in (sides, sides[::-1]):
            while numbers_ is not None and view.reshapes(numbers_):
                numbers_ = view.source(numbers_, 0)
            if made_of == rows and numbers_ is not None and _counts(view, numbers_, rows):
                return few * whole // rows, [*way, mask]
    return None


def _counts(view: View, node: Node, rows: int) -> bool:
    """Whether a tensor is ``tf.range(rows)``: each number once."""
    return node.type == "Range" or view.integers(node) == list(range(rows))


def _read(view: View, node: Node, number: int, handle: str) -> list[Node] | None:
    """The operations that bring a variable's value to an input; None if the input is something else."""
    way: list[Node] = []
    current = view.source(node, number)
    while current is not None and len(way) < FOLLOWED:
        way.append(current)
        if current.type == "ReadVariableOp":
            return way if current.inputs and current.inputs[0][0] == handle else None
        if current.type not in ("Cast", "Roll"):
            return None
        current = view.source(current, 0)
    return None


def _way(view: View, node: Node) -> list[Node]:
    """The operations from what a node adds to a variable back to the sum into zeros; [] if it adds anything else."""
    if node.type in ("AssignAddVariableOp", "AssignSubVariableOp"):
        return _spread(view, view.source(node, 1)) if len(node.inputs) > 1 else []
    added = view.source(node, 1) if node.type == "AssignVariableOp" and len(node.inputs) > 1 else None
    if added is None or added.type not in _SHIFTS:
        return []
    read = view.source(added, 0)
    if read is None or read.type != "ReadVariableOp" or read.inputs[0][0] != node.inputs[0][0]:
        return []
    way = _spread(view, view.source(added, 1))
    return [added, *way] if way else []


def _spread(view: View, node: Node | None) -> list[Node]:
    """The operations from a tensor back to the sum of rows into zeros that makes it; [] if that doesn't."""
    way: list[Node] = []
    while node is not None and len(way) < FOLLOWED:
        way.append(node)
        if node.type == "UnsortedSegmentSum":
            return way
        if node.type not in _KEEPS_ZEROS:
            return []
        whole = [number for number, owner in enumerate(node.inputs) if view.elements(*owner) != 1]
        node = view.source(node, whole[0]) if len(whole) == 1 else None
    return []
