"""GRF028: a penalty goes over all rows of a table, of which a step looks up few."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, SAME, UNARY
from tfperfkit.graph.uses import names_rows
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import WRITES
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_calls import list_files
from tfperfkit_rules.measures.step_shares import span

PENALISED_USED_MAX = Threshold(
    0.25,
    "share",
    "maximum share of a penalised table's rows that are looked up, for the rest to be waste",
    Chosen("what is saved must outweigh looking up and scattering"),
)
PENALISED_ROWS_MIN = Threshold(
    64, "rows", "minimum number of rows of a penalised table: a smaller one takes no time", Chosen("a few cache lines")
)
PENALISED_NUMBERS_MIN = Threshold(
    4096, "numbers", "minimum size of a penalised table: a smaller one takes no time", Chosen("64 rows of 64 numbers")
)
PENALTY_OPERATIONS_MAX = Threshold(
    20,
    "operations",
    "maximum number of operations from a table to its penalty or its update",
    Chosen("it bounds the search"),
)
_READS, _GATHERS = optable.names(kind="read"), optable.names(kind="variable-gather")
_REDUCTIONS = optable.names(kind=("reduction", "whole-reduction"), differentiates=False)
_BY_LAYER = "Penalise only the rows that the batch looks up: activity_regularizer= instead of embeddings_regularizer=. "
_BY_HAND = "Penalise only the rows that the batch looks up: tf.nn.l2_loss(tf.gather(table, ids)). "
_OTHERWISE = (
    "Choose the factor again, since a row now decays only when it is used. Or, if every row must decay: apply the "
    "penalty only every n-th step."
)


class PenalisedTable(Cause, frozen=True, kw_only=True):
    """All ``rows`` are penalised, of which ``taken`` are looked up."""

    rows: int
    taken: int


class WholePenalty(GraphRule[PenalisedTable]):
    """Finds variables that lookups take few rows of, and that otherwise go into one number only, such as a sum of
    squares. The gradient of that number has all rows."""

    code = "GRF028"
    title = "L2 penalty covers a whole Embedding table"

    def find(self, view: View) -> Iterator[PenalisedTable]:
        """Yield the penalised tables of which at most a quarter of the rows is looked up."""
        reads = _group_reads(view)
        for table, gathers in _group_lookups(view).items():
            here = reads.get(table, [])
            shape = view.shape(here[0].name) if here else None
            counts = [view.elements(*gather.inputs[1]) for gather in gathers]
            if not shape or shape[0] < PENALISED_ROWS_MIN.value or None in counts:
                continue
            rows, taken, whole = shape[0], sum(each or 0 for each in counts), view.elements(here[0].name)
            if (whole or 0) < PENALISED_NUMBERS_MIN.value or taken > PENALISED_USED_MAX.value * rows:
                continue
            found = [_follow_to_number(view, read) for read in here if not _is_for_update(view, read, table)]
            region = [node for part in found for node in part or ()]
            if None in found or not region:
                continue  # something else needs the whole table: then its gradient has all rows anyway
            updates = _find_update(view, table, whole)
            places = [node.place for node in (*region, *gathers) if node.place is not None]
            yield PenalisedTable(
                where=places[0] if places else None,
                places=list(dict.fromkeys(places)),
                # An update by rows takes the lookups' gradient as it is. To add that of the penalty it becomes one of
                # all rows.
                operations=[node.name for node in (*region, *(gathers if updates else []))],
                updates=updates,
                left=taken / rows + _share_of_copies(region, gathers, updates),
                rows=rows,
                taken=taken,
            )

    def report(self, evidence: Evidence, part: Part[PenalisedTable]) -> Finding:
        """Advise to penalise what is looked up."""
        rows, taken = part.cause.rows, part.cause.taken
        layers = _find_layers(evidence)
        made = self.finding(
            evidence,
            part,
            f"L2 penalty covers all {often(rows)} Embedding rows, {often(taken)} are looked up",
            (_BY_LAYER if layers else _BY_HAND) + _OTHERWISE,
            "The penalty reads the whole table and makes its gradient as large as the table, so the update covers "
            "all rows too.",
            count("rows of the table", rows),
            count("rows looked up", taken),
        )
        where = tuple(dict.fromkeys((*layers, *made.where)))
        return msgspec.structs.replace(made, where=where[: shared.MAX_PLACES.value])


def _group_reads(view: View) -> dict[str, list[Node]]:
    """Group the operations that read a whole variable, by variable."""
    found: dict[str, list[Node]] = defaultdict(list)
    for node in view.forward:
        if node.type in _READS:
            found[node.inputs[0][0]].append(node)
    return found


def _group_lookups(view: View) -> dict[str, list[Node]]:
    """By variable, the lookups of its rows."""
    found: dict[str, list[Node]] = defaultdict(list)
    for node in view.forward:
        if node.type in _GATHERS:
            found[node.inputs[0][0]].append(node)
        elif node.type == "GatherV2" and names_rows(view, node):
            read = view.source(node, 0)
            if read is not None and read.type in _READS:
                found[read.inputs[0][0]].append(node)
    return found


def _share_of_copies(region: list[Node], gathers: list[Node], updates: list[str]) -> float:
    """Return the part of the work now that copies of the table take afterwards.

    Once rows are updated in place, each read of the whole variable copies it, also for a lookup in a value
    (``GatherV2``). Now the table is gone through forward, backward and in the update.
    """
    if not updates:
        return 0.0
    # A gradient of all rows is made of the lookups' one, and added to the penalty's.
    now = 2 * sum(node.type not in _READS for node in region) + 2 + len(updates)
    return sum(gather.type == "GatherV2" for gather in gathers) / now


def _is_for_update(view: View, read: Node, table: str) -> bool:
    """Whether a value is read for the variable's own update, as by weight decay."""
    pending, seen = [read], 0
    while pending and seen < PENALTY_OPERATIONS_MAX.value:
        seen += 1
        for use in view.uses(pending.pop()):
            if use.node.type in WRITES:
                return use.node.inputs[0][0] == table
            pending.append(use.node)
    return False


def _follow_to_number(view: View, read: Node) -> list[Node] | None:
    """Return the operations from a table to the one number that it is reduced to; [] if only lookups take it; None if
    anything else does."""
    found: dict[str, Node] = {}
    pending = [read]
    while pending:
        node = pending.pop()
        if view.elements(node.name) == 1:
            continue
        if node.name in view.results or len(found) > PENALTY_OPERATIONS_MAX.value:
            return None
        for use in view.uses(node):
            looked_up = use.number == 0 and use.node.type == "GatherV2" and names_rows(view, use.node)
            if looked_up or use.node.name in found:
                continue
            if not _may_penalise(view, use.node):
                return None
            found[use.node.name] = use.node
            pending.append(use.node)
    return [read, *found.values()] if found else []


def _may_penalise(view: View, node: Node) -> bool:
    """Whether an operation may stand between a table and its penalty."""
    if node.type in UNARY or node.type in _REDUCTIONS:
        return True
    alone = len({view.made(*owner) for owner in node.inputs}) == 1  # x * x
    return node.type in BINARY and (alone or 1 in {view.elements(*owner) for owner in node.inputs})


def _find_update(view: View, table: str, whole: int | None) -> list[str]:
    """Find the operations that take a gradient off a table and nothing else: of a gradient that names rows they would
    update only these.

    An optimizer with a memory as large as the table has none: it goes through that memory anyway.
    """
    for node in view.nodes.values():
        if node.type not in ("AssignSubVariableOp", "AssignAddVariableOp") or node.inputs[0][0] != table:
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


def _find_layers(evidence: Evidence) -> list[SourceSpan]:
    """Find the layers that are given such a penalty."""
    return [
        span(evidence, file, call.line)
        for file, syntax in list_files(evidence)
        for call in syntax.find_api_calls("keras.layers.Embedding")
        if "embeddings_regularizer" in call.keywords
    ]
