"""Which compiled function a call was of that was under way when the trace ended, and so left no event: by the names of
the operations that ran meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tfperfkit.xplane.spans import Span
from tfperfkit_probes.lines.graph.locate import Locator
from tfperfkit_probes.lines.graph.model import BuiltGraphs
from tfperfkit_probes.lines.graph.trace import Activity, Call

#: Names that are looked up, those that took longest.
_NAMES = 50


def with_unfinished(activity: Activity, span: Span | None, built: Sequence[BuiltGraphs]) -> list[Call]:
    """The calls, and the unfinished one where a function is known by the larger part of its operations."""
    if span is None:
        return activity.calls
    took: Counter[tuple[str, str]] = Counter()
    for segment in activity.segments:
        if segment.begin >= span.begin and not segment.key.module:
            took[segment.key.name, segment.key.type] += segment.end - segment.begin
    names = [name for name, _ in took.most_common(_NAMES)]
    found = {
        function: sum(_built_there(locator, item, number, *name) for name in names)
        for item in built
        for locator in (Locator(item.graphs),)
        for function, number in item.graphs.functions.items()
        if function.startswith("__")
    }
    function = max(found, key=lambda name: (found[name], name), default="")
    if not function or 2 * found[function] <= len(names):
        return activity.calls
    return sorted([*activity.calls, Call(function, *span)], key=lambda call: (call.begin, -call.end))


def _built_there(locator: Locator, item: BuiltGraphs, root: int, name: str, kind: str) -> bool:
    """Whether a function, or what it calls, has the operation: not only one in the same scope."""
    chain = locator.find(root, name)
    if chain is None:
        return False
    graph, index = chain[-1]
    row = item.graphs.graphs[graph]
    same_name = row.operations[index].rpartition("/")[2] == name.rpartition("/")[2]
    return same_name and item.graphs.types[row.types[index]] == kind
