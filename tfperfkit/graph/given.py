"""Arguments that are the same as in the calls before, or only get longer; and what a loop gives to each iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.graph.iterations import iterations_of
from tfperfkit.graph.model import Graph
from tfperfkit.graph.staying import kept, owner_of, unwritten
from tfperfkit.graph.walk import CALLS, LOOPS, WRITES
from tfperfkit.records.graph_contents import CallsRecord
from tfperfkit.records.pipelines import Padding

#: Fewer calls tell nothing; an argument that stays for fewer in a row may be handed over twice for a reason.
MIN_CALLS, MIN_REPEATS = 8, 4
_HANDLES = frozenset({"resource", "variant", "string", ""})


class Given(NamedTuple):
    """Of a graph's arguments, by their placeholders: for how many calls in a row each stays the same, or turns of a
    loop, also variables that no turn assigns to; and those that get longer. ``calls`` were looked at; 0 for the body of
    a loop. ``padding``: of sequences."""

    calls: int = 0
    same: dict[str, float] = {}
    grown: frozenset[str] = frozenset()
    padding: dict[str, Padding] = {}


def given(root: Graph, record: CallsRecord | None, unknown_turns: int) -> dict[str, Given]:
    """By graph: of the function that is called, and of what it calls in turn. ``unknown_turns``: of a loop that does
    not tell its own."""
    padded = zip(root.record.arguments, record.padding if record is not None else (), strict=False)
    padding = {name: each for name, each in padded if each is not None}
    found = {root.name: _of_calls(root, record)._replace(padding=padding)}
    pending = [root]
    while pending:
        here = pending.pop()
        for body, inner in _called(here, found[here.name], unknown_turns):
            if body.name not in found:
                pending.append(body)
                found[body.name] = inner
            elif found[body.name] != inner:  # called twice, with other arguments
                found[body.name] = Given()
    return {name: each for name, each in found.items() if each.same or each.grown or each.padding}


def _of_calls(graph: Graph, record: CallsRecord | None) -> Given:
    """Nothing where all arguments stay, none is a variable, and the function changes none: whoever calls that again and
    again wants it so, or measures it."""
    if record is None or record.calls < MIN_CALLS:
        return Given()
    pairs = record.calls - 1
    rows = [
        row
        for row in zip(graph.record.arguments, record.same, record.grown, strict=False)
        if graph.type_of(row[0]).dtype not in _HANDLES
    ]
    repeats = {name: record.calls / (pairs - same + 1) for name, same, _ in rows}
    same = {name: times for name, times in repeats.items() if times >= MIN_REPEATS}
    variables = any(graph.type_of(name).dtype == "resource" for name in graph.record.arguments)
    writes = any(node.type in WRITES for node in graph.nodes.values())
    if len(same) == len(rows) and not variables and not writes:
        return Given()
    return Given(record.calls, same, frozenset(name for name, _, grown in rows if 2 * grown > pairs))


def empty_arguments(graph: Graph, record: CallsRecord | None) -> dict[str, float]:
    """The arguments that stay the same and are nearly all zeros, by their placeholders, with the share of zeros."""
    if record is None or record.calls < MIN_CALLS:
        return {}
    changes = record.calls / MIN_REPEATS  # so many at most, the first value among them
    return {
        name: record.zeros[number]
        for number, (name, same) in enumerate(zip(graph.record.arguments, record.same, strict=False))
        if number in record.zeros and record.calls - same <= changes
    }


def _called(here: Graph, given: Given, unknown_turns: int) -> Iterator[tuple[Graph, Given]]:
    for node in here.nodes.values():
        if node.type in CALLS:
            for name in node.functions().get("f", ()):
                body = here.body(name)
                if body is not None:
                    pairs = [
                        (slot, owner_of(here, owner)) for slot, (owner, _) in zip(body.slots, node.inputs, strict=False)
                    ]
                    yield (
                        body,
                        Given(
                            given.calls,
                            {slot: given.same[owner] for slot, owner in pairs if owner in given.same},
                            frozenset(slot for slot, owner in pairs if owner in given.grown),
                            {slot: given.padding[owner] for slot, owner in pairs if owner in given.padding},
                        ),
                    )
        elif node.type in LOOPS:
            for name in node.functions().get("body", ()):
                body = here.body(name)
                if body is not None:
                    turns = float(iterations_of(here, node) or unknown_turns)
                    same = kept(body) | unwritten(body) if turns >= MIN_REPEATS else frozenset()
                    yield body, Given(0, dict.fromkeys(sorted(same), turns))
