"""Work in a graph of which far less would give the same result, by its structure alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

import msgspec

from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.graph import Graph
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.stored import CallsRecord
from tfperfkit_probes.ops.summary import moved
from tfperfkit_probes.ops.walk import cost, walk
from tfperfkit_probes.ops.waste.again import again, grown, never_changing
from tfperfkit_probes.ops.waste.averages import averages
from tfperfkit_probes.ops.waste.copied import copied
from tfperfkit_probes.ops.waste.dense_sums import dense_sums
from tfperfkit_probes.ops.waste.diagonals import diagonals
from tfperfkit_probes.ops.waste.factors import factors
from tfperfkit_probes.ops.waste.facts import facts_of
from tfperfkit_probes.ops.waste.flat import flat
from tfperfkit_probes.ops.waste.given import empty_arguments, given
from tfperfkit_probes.ops.waste.norms import norms
from tfperfkit_probes.ops.waste.padded import padded
from tfperfkit_probes.ops.waste.pairs import pairs
from tfperfkit_probes.ops.waste.penalties import penalties
from tfperfkit_probes.ops.waste.picked import picked
from tfperfkit_probes.ops.waste.positions import positions
from tfperfkit_probes.ops.waste.products import products
from tfperfkit_probes.ops.waste.repeats import repeats
from tfperfkit_probes.ops.waste.resized import resized
from tfperfkit_probes.ops.waste.results import results
from tfperfkit_probes.ops.waste.separable import separable
from tfperfkit_probes.ops.waste.solves import solves
from tfperfkit_probes.ops.waste.sorts import shuffles, sorts
from tfperfkit_probes.ops.waste.spread import spread
from tfperfkit_probes.ops.waste.stacked import stacked
from tfperfkit_probes.ops.waste.staying import Staying, staying
from tfperfkit_probes.ops.waste.tables import tables
from tfperfkit_probes.ops.waste.unrolled import unrolled
from tfperfkit_probes.ops.waste.updates import updates
from tfperfkit_probes.ops.waste.view import View
from tfperfkit_probes.ops.waste.zeros import zeros

_PATTERNS: tuple[Callable[[View], Iterable[Wasted]], ...] = (
    sorts,
    shuffles,
    products,
    spread,
    pairs,
    tables,
    penalties,
    repeats,
    resized,
    solves,
    picked,
    positions,
    copied,
    dense_sums,
    diagonals,
    zeros,
    separable,
    flat,
    again,
    unrolled,
    never_changing,
    grown,
    factors,
    stacked,
    averages,
    norms,
    updates,
    results,
    padded,
)
#: Graphs with more operations than this are not looked at.
_MAX_OPERATIONS = 100_000
_MAX = 64
#: A loop whose turns are not known goes round so often, where nothing but sizes tells what a part of it takes.
_UNKNOWN_TURNS = 16


def wasted(
    graph: Graph,
    open_size: int | None,
    unchanged: frozenset[str] = frozenset(),
    idle: frozenset[str] = frozenset(),
    calls: CallsRecord | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> list[Wasted]:
    """What a call of the graph's function wastes, by kind and line: one line's operations together. ``unchanged``: the
    placeholders of variables that nothing changes; ``idle``: that nothing but training changes. ``calls``: what its
    arguments were; ``shapes``: of those with open sizes, in the first of them."""
    times: dict[str, float] = defaultdict(float)
    bodies: dict[str, Graph] = {graph.name: graph}
    whole_flops = whole_bytes = 0.0
    for visit in walk(graph, open_size):
        runs = visit.times if visit.exact else visit.times * _UNKNOWN_TURNS
        bodies.setdefault(visit.graph.name, visit.graph)
        times[visit.graph.name] = max(times[visit.graph.name], runs)
        whole_flops += runs * (cost(visit.graph, visit.node, open_size) or 0.0)
        whole_bytes += runs * moved(visit.graph, visit.node, open_size)
    same = staying(graph, unchanged)
    at_rest = staying(graph, unchanged | idle)
    arguments = given(graph, calls, _UNKNOWN_TURNS)
    handed = empty_arguments(graph, calls)
    empty = facts_of(graph, lambda record: {**record.zeros, **(handed if record is graph.record else {})})
    products = facts_of(graph, lambda record: dict.fromkeys(record.separable, True))
    found: dict[tuple[str, SourceSpan | None], Wasted] = {}
    for body in bodies.values():
        if len(body.nodes) > _MAX_OPERATIONS:
            continue
        stays = same.get(body.name) or Staying(body, frozenset())
        view = View(
            body,
            open_size,
            stays.names,
            in_loop=stays.in_loop,
            zeros=empty.get(body.name),
            separable=frozenset(products.get(body.name, ())),
            given=arguments.get(body.name),
            idle=at_rest[body.name].names if body.name in at_rest else frozenset(),
            arguments=shapes if body is graph else None,
        )
        for pattern in _PATTERNS:
            for each in pattern(view):
                mine = _measured(view, each, times[body.name])
                known = found.get((each.kind, each.where))
                found[each.kind, each.where] = mine if known is None else _together(known, mine)
    return [
        msgspec.structs.replace(each, whole_flops=whole_flops + each.uncounted_flops, whole_bytes=whole_bytes)
        for each in list(found.values())[:_MAX]
    ]


def _measured(view: View, each: Wasted, times: float) -> Wasted:
    """With the lines of all its operations, and what they take beside the bodies that they call, in all their runs of a
    call."""
    nodes = [view.nodes[name] for name in each.operations if name in view.nodes]  # others are in bodies
    lines = [node.place for node in nodes if node.place is not None]
    return msgspec.structs.replace(
        each,
        places=list(dict.fromkeys((*each.places, *lines))),
        takes_flops=times * (each.takes_flops + sum(cost(view.graph, node, view.open_size) or 0.0 for node in nodes)),
        takes_bytes=times * (each.takes_bytes + sum(moved(view.graph, node, view.open_size) for node in nodes)),
        uncounted_flops=times * each.uncounted_flops,
        flops=times * each.flops,
        bytes=times * each.bytes,
    )


def _together(one: Wasted, other: Wasted) -> Wasted:
    lefts = [each for each in (one.left, other.left) if each is not None]
    return msgspec.structs.replace(
        one,
        places=list(dict.fromkeys((*one.places, *other.places))),
        operations=list(dict.fromkeys((*one.operations, *other.operations))),
        takes_flops=one.takes_flops + other.takes_flops,
        takes_bytes=one.takes_bytes + other.takes_bytes,
        uncounted_flops=one.uncounted_flops + other.uncounted_flops,
        names=list(dict.fromkeys((*one.names, *other.names))),
        updates=list(dict.fromkeys((*one.updates, *other.updates))),
        left=max(lefts, default=None),
        flops=one.flops + other.flops,
        bytes=one.bytes + other.bytes,
    )
