"""GRF023 of rows of a batch: some are the same in each call, and go through a network next to the others."""

from __future__ import annotations

from collections.abc import Iterator, Set

from tfperfkit.graph import optable
from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.optable import is_heavy
from tfperfkit.graph.rows import MIXED
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import WRITES
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.graph.same_in_each import SameInEachCall
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.eager_assignments import eager_assignments

#: Gradients of weights: with one of them the network is trained, and no row's result stays.
_TRAINS = optable.names(kind="bias-grad") | optable.names(kind="convolution", axis="mixed", differentiates=True)


class StackedRows(Cause, frozen=True, kw_only=True):
    """``same`` of ``rows`` rows stay. ``variables``: tensors, weights among them, that the network takes as well."""

    same: int
    rows: int
    variables: int


class SameRows(GraphRule[StackedRows]):
    """Recognised by ``tf.concat`` along the first axis of what stays and what does not, if the results are taken apart
    again and no weight on the way has a gradient in this function."""

    code = SameInEachCall.code
    title = SameInEachCall.title

    def find(self, view: View) -> Iterator[StackedRows]:
        """Yield the networks that such rows go through."""
        joined = [n for n in view.forward if n.type == "ConcatV2" and view.integers(view.source(n, -1)) == [0]]
        if not joined or any(view.nodes[name].type in _TRAINS for name in _computed(view)):
            return
        same = Flow(view).same_names({*view.given.same, *view.idle})
        for node in joined:
            parts = [(name, view.shape(name, output)) for name, output in node.inputs[:-1]]
            if any(not shape or shape[0] < 1 for _, shape in parts):
                continue
            rows = sum(shape[0] for _, shape in parts if shape)
            stays = sum(shape[0] for name, shape in parts if shape and name in same)
            if 0 < stays < rows:
                yield from _network(view, node, same, stays, rows)

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """Leave out networks that have no more tensors than the run assigns to eagerly, as an optimizer does: what is
        assigned to may be their weights."""
        for part in self.parts(evidence):
            if shared.MOSTLY.value * part.cause.variables > eager_assignments(evidence):
                yield self.report(evidence, part)

    def report(self, evidence: Evidence, part: Part[StackedRows]) -> Finding:
        """Advise to run the network on them once."""
        same, rows = part.cause.same, part.cause.rows
        return self.finding(
            evidence,
            part,
            f"Loop-invariant computation of {same} of {rows} rows repeated in every call",
            "Run the network on the unchanged rows once, before the loop, and keep the result. Pass only the other "
            "rows through the network in each call.",
            "tf.concat joins the unchanged rows with the others at this line, and the results are split again. No "
            "weight of the network is trained here.",
            count("rows in a call", rows),
            count("unchanged rows", same),
        )


def _computed(view: View) -> set[str]:
    """Return what a result or a change of a variable needs: a tape also makes gradients that nobody takes."""
    pending = [*view.results, *(node.name for node in view.nodes.values() if node.type in WRITES)]
    seen = set(pending) & view.nodes.keys()
    while pending:
        node = view.nodes.get(pending.pop())
        if node is not None:
            new = {*(owner for owner, _ in node.inputs), *node.control_inputs} - seen
            seen |= new & view.nodes.keys()
            pending += new
    return seen


def _network(view: View, joined: Node, same: Set[str], stays: int, rows: int) -> Iterator[StackedRows]:
    """Yield what takes each row by itself, with tensors that stay, if slices take rows of it apart."""
    states = Flow(view).rows({(joined.name, 0): 0}).states
    reached = {joined.name}
    found: list[Node] = []
    apart = False
    for node in view.forward:
        owners = [owner for owner, _ in node.inputs]
        if not reached.intersection(owners):
            continue
        state = states.get((node.name, 0), MIXED)
        if node.type == "StridedSlice" and owners[0] in reached:
            apart = True
        elif (
            state.follows
            and state.axis == 0
            and state.block == 1
            and all(owner in reached or owner in same for owner in owners)
        ):
            reached.add(node.name)
            found.append(node)
    weights = {owner for node in found for owner, _ in node.inputs if owner not in reached}
    if apart and any(is_heavy(node.type) for node in found):
        yield StackedRows(
            where=joined.place,
            operations=[node.name for node in found],
            left=1 - stays / rows,
            same=stays,
            rows=rows,
            variables=len(weights),
        )
