"""Arguments that are the same as in the calls before, or only get longer; what a loop hands on to each iteration."""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit.graph.facts import bodies_of_loops, hand_on, repeated
from tfperfkit.graph.model import Graph
from tfperfkit.graph.walk import WRITES
from tfperfkit.records.graph_contents import CallsRecord
from tfperfkit.records.pipelines import Padding

#: Fewer calls tell nothing; an argument that stays for fewer in a row may be handed over twice for a reason.
MIN_CALLS, MIN_REPEATS = 8, 4
_HANDLES = frozenset({"resource", "variant", "string", ""})


class Given(NamedTuple):
    """Facts about a graph's arguments, by their placeholders.

    ``same``: for how many calls in a row, or iterations of a loop, each stays the same; in a loop also variables that
    no iteration assigns to. ``grown``: those that get longer. ``calls`` were looked at; 0 for the body of a loop.
    ``padding``: of sequences.
    """

    calls: int = 0
    same: dict[str, float] = {}
    grown: frozenset[str] = frozenset()
    padding: dict[str, Padding] = {}


def given(root: Graph, record: CallsRecord | None, unknown_iterations: int) -> dict[str, Given]:
    """By graph: of the function that is called, and of what it calls in turn. ``unknown_iterations``: of a loop whose
    number of iterations is not known."""
    mine, looping = _of_calls(root, record), bodies_of_loops(root)
    sequences = zip(root.record.arguments, record.padding if record is not None else (), strict=False)
    same = repeated(root, mine.same, unknown_iterations, MIN_REPEATS)
    grown = hand_on(root, dict.fromkeys(mine.grown, True))
    padding = hand_on(root, {name: each for name, each in sequences if each is not None})
    return {
        name: Given(
            0 if name in looping else mine.calls,
            same.get(name, {}),
            frozenset(grown.get(name, ())),
            padding.get(name, {}),
        )
        for name in {*same, *grown, *padding}
    }


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
    """Return the arguments that stay the same and are nearly all zeros, by their placeholders, with the share of
    zeros."""
    if record is None or record.calls < MIN_CALLS:
        return {}
    changes = record.calls / MIN_REPEATS  # so many at most, the first value among them
    return {
        name: record.zeros[number]
        for number, (name, same) in enumerate(zip(graph.record.arguments, record.same, strict=False))
        if number in record.zeros and record.calls - same <= changes
    }
