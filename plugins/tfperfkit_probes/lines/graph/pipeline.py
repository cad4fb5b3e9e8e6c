"""The functions of an input pipeline (``Dataset.map``), which run on tf.data's threads beside the step.

The trace does not tell which function an operation belongs to: it goes by name, and where several functions have an
operation of that name, to the one whose operations were seen the most.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit_probes.lines.graph.model import BuiltGraphs
from tfperfkit_probes.lines.graph.origin import Origins, Owner
from tfperfkit_probes.lines.graph.trace import Segment
from tfperfkit_probes.lines.graph.tree import FunctionTime


def in_pipeline(built: Iterable[BuiltGraphs], segments: Iterable[Segment]) -> list[FunctionTime]:
    """The person's functions in the pipeline with their busy time, the longest first."""
    busy: dict[str, int] = {}
    for segment in segments:
        if not segment.waits and not segment.key.module:
            busy[segment.key.name] = busy.get(segment.key.name, 0) + segment.end - segment.begin
    candidates = [
        (Origins(item), {name for graph in item.graphs.graphs for name in graph.operations})
        for item in built
        if item.owner == "tf.data"
    ]
    if not busy or not candidates:
        return []
    candidates.sort(key=lambda pair: -len(pair[1] & busy.keys()))
    found: dict[Owner, FunctionTime] = {}
    for name, spent in busy.items():
        origins = next((item for item, names in candidates if name in names), None)
        if origins is None:
            continue
        root = next(iter(origins.built.graphs.functions.values()), 0)
        origin = origins.origin(root, name)
        if origin is None or not origins.built.file:
            continue
        total = found.setdefault(origins.owner, FunctionTime(origins.owner))
        total.wall += spent
        total.add(origin, float(spent), float(spent))
    return sorted(found.values(), key=lambda item: -item.wall)
