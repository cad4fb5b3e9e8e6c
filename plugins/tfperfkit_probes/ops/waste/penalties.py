"""A penalty on all rows of a table, of which a call looks up few: it reads the table, and its gradient has all rows."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, SAME, UNARY
from tfperfkit.graph.uses import names_rows
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "penalty"
_MIN_ROWS, _MIN_NUMBERS = 64, 4096
_REDUCES = frozenset({"Sum", "Mean", "Max", "L2Loss", "Prod"})
#: What makes a gradient of all rows of the lookups', and adds it to the penalty's.
_OF_LOOKUPS = ("UnsortedSegmentSum", "AddN")
_TAKES_OFF = frozenset({"AssignSubVariableOp", "AssignAddVariableOp"})
_MAX_OPERATIONS = 20


def penalties(view: View) -> Iterator[Wasted]:
    """By variables that lookups take few rows of, and that else go into one number only: a sum of squares, say."""
    reads: dict[str, list[Node]] = {}
    lookups: dict[str, list[Node]] = {}
    for node in view.forward:
        if node.type == "ReadVariableOp":
            reads.setdefault(node.inputs[0][0], []).append(node)
        elif node.type == "ResourceGather":
            lookups.setdefault(node.inputs[0][0], []).append(node)
        elif node.type == "GatherV2" and names_rows(view, node):
            read = view.source(node, 0)
            if read is not None and read.type == "ReadVariableOp":
                lookups.setdefault(read.inputs[0][0], []).append(node)
    for table, gathers in lookups.items():
        here = reads.get(table, [])
        shape = view.shape(here[0].name) if here else None
        counts = [view.elements(*gather.inputs[1]) for gather in gathers]
        if not shape or shape[0] < _MIN_ROWS or None in counts:
            continue
        rows, taken = shape[0], sum(each or 0 for each in counts)
        if (view.elements(here[0].name) or 0) < _MIN_NUMBERS or taken > numbers.FEW.value * rows:
            continue
        found = [_reduced(view, read) for read in here if not _updates(view, read, table)]
        region = [node for part in found for node in part or ()]
        if None in found or not region:
            continue  # something else needs all of it: then its gradient has all rows anyway
        updates = _update(view, table, view.elements(here[0].name))
        places = [node.place for node in (*region, *gathers) if node.place is not None]
        yield Wasted(
            kind=KIND,
            where=places[0] if places else None,
            places=list(dict.fromkeys(places)),
            # An update by rows takes the lookups' gradient as it is; to add the penalty's it is made one of all rows.
            operations=[node.name for node in (*region, *(gathers if updates else []))],
            updates=updates,
            left=taken / rows + _copies(region, gathers, updates),
            figures={"rows": rows, "taken": taken},
        )


def _copies(region: list[Node], gathers: list[Node], updates: list[str]) -> float:
    """Once rows are updated in place, each read of the whole variable copies it, as for a lookup in a value
    (``GatherV2``): part of the times that the table is gone through now, forward, backward and in the update."""
    if not updates:
        return 0.0
    now = 2 * sum(node.type != "ReadVariableOp" for node in region) + len(_OF_LOOKUPS) + len(updates)
    return sum(gather.type == "GatherV2" for gather in gathers) / now


def _updates(view: View, read: Node, table: str) -> bool:
    """Whether a value is read for the variable's own update, as by weight decay."""
    pending, seen = [read], 0
    while pending and seen < _MAX_OPERATIONS:
        seen += 1
        for use in view.uses(pending.pop()):
            if use.node.type.startswith("Assign"):
                return use.node.inputs[0][0] == table
            pending.append(use.node)
    return False


def _reduced(view: View, read: Node) -> list[Node] | None:
    """The operations from a table to the one number that it is reduced to, none where only lookups take it; None where
    anything else does."""
    found: dict[str, Node] = {}
    pending = [read]
    while pending:
        node = pending.pop()
        if view.elements(node.name) == 1:
            continue
        if node.name in view.results or len(found) > _MAX_OPERATIONS:
            return None
        for use in view.uses(node):
            looked_up = use.number == 0 and use.node.type == "GatherV2" and names_rows(view, use.node)
            if looked_up or use.node.name in found:
                continue
            if not _to_one(view, use.node):
                return None
            found[use.node.name] = use.node
            pending.append(use.node)
    return [read, *found.values()] if found else []


def _to_one(view: View, node: Node) -> bool:
    """Whether an operation may stand between a table and its penalty."""
    if node.type in UNARY or node.type in _REDUCES:
        return True
    alone = len({view.made(*owner) for owner in node.inputs}) == 1  # x * x
    return node.type in BINARY and (alone or 1 in {view.elements(*owner) for owner in node.inputs})


def _update(view: View, table: str, whole: int | None) -> list[str]:
    """The operations that take a gradient off a table and nothing else: of a gradient that names rows they would update
    these only. None of an optimizer with a memory as large as the table, which is gone through whole anyway."""
    for node in view.nodes.values():
        if node.type not in _TAKES_OFF or node.inputs[0][0] != table:
            continue
        way, owner = [node.name], node.inputs[1]
        while (made := view.nodes.get(owner[0])) is not None and view.elements(*owner) == whole:
            if made.type == "AddN" or made.backward:
                return way
            if made.type == "IdentityN":
                owner = made.inputs[owner[1]]
                continue
            large = [each for each in made.inputs if view.elements(*each) == whole]
            if len(large) != 1 or not (made.type in SAME or made.type in UNARY or made.type in BINARY):
                return []
            way.append(made.name)
            owner = large[0]
    return []
