"""Work in a graph of which far less would give the same result, by its structure alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from tfperfkit.graph.costs import cost, moved
from tfperfkit.graph.model import Graph
from tfperfkit.graph.recorded import RecordedFunction
from tfperfkit.graph.view import View
from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.model import Wasted

_PATTERNS: tuple[Callable[[View], Iterable[Wasted]], ...] = ()
_MAX = 64


def wasted(graph: Graph, open_size: int | None, *more: Any, **known: Any) -> list[Wasted]:
    """``wasted_in`` a function that is not recorded: the rest are the other arguments of ``RecordedFunction``."""
    return wasted_in(RecordedFunction(graph, open_size, *more, **known))


def wasted_in(function: RecordedFunction) -> list[Wasted]:
    """What a call of the function wastes, by kind and line: the operations of one line together."""
    found: dict[tuple[str, SourceSpan | None], Wasted] = {}
    for view, times in function.bodies:
        for pattern in _PATTERNS:
            for each in pattern(view):
                mine = _measured(view, each, times)
                known = found.get((each.kind, each.where))
                found[each.kind, each.where] = mine if known is None else _together(known, mine)
    return [
        msgspec.structs.replace(each, whole_flops=function.flops + each.uncounted_flops, whole_bytes=function.bytes)
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
