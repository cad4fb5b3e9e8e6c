"""The waste that a rule finds in a graph: operations of one line, far fewer of which would give the same result."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import ClassVar, TypeVar

import msgspec

from tfperfkit.graph.costs import cost, moved
from tfperfkit.graph.recorded import RecordedFunction
from tfperfkit.graph.view import View
from tfperfkit.records.source_span import SourceSpan

C = TypeVar("C", bound="Cause")


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """A rule's own cause adds the figures that its words need, as fields.

    ``where``: the line to change. ``operations``: their names in the graph that the rule looked at, without gradients.
    The replacement's cost, forward: ``left``, a part (0 to 1) of the time that they take, or ``flops`` and ``bytes``.
    ``uncounted_flops``: FLOPs of operations whose FLOPs the table doesn't count. ``updates``: operations of the update
    of the weights that would do less too. ``takes_flops`` and ``takes_bytes``: what bodies take that the operations
    call; the operations themselves are added. ``whole_flops`` and ``whole_bytes``, of a call of the function, are
    filled in.
    """

    #: Whether the operations may call bodies, which count with them.
    with_bodies: ClassVar[bool] = False
    #: Whether there is one for each variable: these take as long to start as to run if variables are small and many.
    each_variable: ClassVar[bool] = False
    #: Whether the operations make a result of the function that Keras' own ``predict`` may return.
    of_result: ClassVar[bool] = False

    where: SourceSpan | None
    operations: list[str]
    places: list[SourceSpan] = []
    left: float | None = None
    flops: float = 0.0
    bytes: float = 0.0
    uncounted_flops: float = 0.0
    takes_flops: float = 0.0
    takes_bytes: float = 0.0
    whole_flops: float = 0.0
    whole_bytes: float = 0.0
    updates: list[str] = []

    @property
    def key(self) -> Hashable:
        """Causes of one rule with the same key are one."""
        return self.where


def collect_causes(function: RecordedFunction, found: Iterable[tuple[View, float, C]]) -> list[C]:
    """Put the causes of one line together. ``found``: view, how often it runs in a call of the function, cause."""
    causes: dict[Hashable, C] = {}
    for view, times, each in found:
        mine = _measured(view, each, times)
        known = causes.get(each.key)
        causes[each.key] = mine if known is None else _join_causes(known, mine)
    return [
        msgspec.structs.replace(each, whole_flops=function.flops + each.uncounted_flops, whole_bytes=function.bytes)
        for each in causes.values()
    ]


def _measured(view: View, each: C, times: float) -> C:
    """Add the lines of all operations, and what these take in all their runs of a call."""
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


def _join_causes(one: C, other: C) -> C:
    lefts = [each for each in (one.left, other.left) if each is not None]
    return msgspec.structs.replace(
        one,
        places=list(dict.fromkeys((*one.places, *other.places))),
        operations=list(dict.fromkeys((*one.operations, *other.operations))),
        takes_flops=one.takes_flops + other.takes_flops,
        takes_bytes=one.takes_bytes + other.takes_bytes,
        uncounted_flops=one.uncounted_flops + other.uncounted_flops,
        updates=list(dict.fromkeys((*one.updates, *other.updates))),
        left=max(lefts, default=None),
        flops=one.flops + other.flops,
        bytes=one.bytes + other.bytes,
    )
