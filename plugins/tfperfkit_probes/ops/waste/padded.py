"""Sequences of tokens that are mostly padding, as a function's argument: each layer computes the padding too."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted

KIND = "padded"
_LOOKUP = ("ResourceGather", "GatherV2", "Gather")
#: Where the indices stand among the inputs of a lookup.
_INDICES = 1
#: What makes indices of indices: a cast, negative ones counted from the end, limits.
_INDEX_BY_INDEX = frozenset({"Cast", "SelectV2", "Select", "AddV2", "Minimum", "Maximum", "ClipByValue"})


def padded(view: View) -> Iterator[Wasted]:
    """Whole numbers by which rows of a table are looked up; what an argument is padded to was seen in its calls."""
    if view.given is None:
        return
    for name, padding in view.given.padding.items():
        node = view.nodes.get(name)
        if node is None:
            continue
        lookups = _lookups(view, node)
        if lookups:
            yield Wasted(
                kind=KIND,
                where=lookups[0].place,
                operations=[each.name for each in lookups],
                figures={
                    "width": padding.width,
                    "mean": padding.mean,
                    "longest": padding.longest,
                    "alike": padding.alike,
                    "rows": padding.rows,
                },
                names=[name],
            )


def _lookups(view: View, given: Node) -> list[Node]:
    found, seen, pending = [], {given.name}, [given]
    while pending:
        for use in view.uses(pending.pop()):
            if use.node.type in _LOOKUP and use.number == _INDICES:
                found.append(use.node)
            elif use.node.type in _INDEX_BY_INDEX and use.node.name not in seen:
                seen.add(use.node.name)
                pending.append(use.node)
    return found
