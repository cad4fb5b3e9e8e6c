"""The operations that ran in the traced steps."""

from __future__ import annotations

from typing import Any

import msgspec

from tfperfkit.picture import Node, Picture, Tree
from tfperfkit.records.plural import plural
from tfperfkit_probes.tfprof.model import OpRow, TfprofData

_WHERE = {
    "eager": "one by one from Python",
    "graph": "in compiled functions",
    "xla": "by XLA",
    "device": "on accelerators",
}
_NAMES = 30


def pictures(data: Any) -> list[Picture]:
    """Draw the operations by device, type and name: own time for one step (of a trace without steps: in all of it)."""
    found = msgspec.convert(data, TfprofData, strict=False)
    steps = max(found.steps, 1)
    rows = [row for row in found.top_ops if row.self_ms > 0]
    if not rows:
        return []
    rest = found.rest_ms / steps
    whole = sum(row.self_ms for row in rows) / steps + rest
    title = "operations of a step" if found.steps else "operations of the trace"
    nodes: list[Node] = [Node(-1, title, round(whole, 4), "all")]
    for where in dict.fromkeys(row.where for row in rows):
        _group(where, [row for row in rows if row.where == where], found.steps, nodes)
    if rest > 0:
        nodes.append(Node(0, "operations that are not listed", round(rest, 4), "rest"))
    return [
        Tree(
            key="operations",
            title="Operations by type",
            unit="ms",
            nodes=tuple(nodes),
            kinds={where: _WHERE.get(where, where) for where in dict.fromkeys(row.where for row in rows)},
            note=f"Own time for one step, all threads together, from the trace of {plural(found.steps, 'step')}."
            if found.steps
            else "Own time in the whole trace, which has no steps, all threads together.",
        )
    ]


def _group(where: str, rows: list[OpRow], steps: int, nodes: list[Node]) -> None:
    each = max(steps, 1)
    per = " a step" if steps else " times"
    nodes.append(Node(0, _WHERE.get(where, where), _sum(rows, each), where))
    top = len(nodes) - 1
    by_type: dict[str, list[OpRow]] = {}
    for row in rows:
        by_type.setdefault(row.type, []).append(row)
    for kind, group in sorted(by_type.items(), key=lambda item: -sum(row.self_ms for row in item[1])):
        count = sum(row.count for row in group) / each
        nodes.append(Node(top, kind, _sum(group, each), where, note=f"{count:,.4g}{per}"))
        place = len(nodes) - 1
        for row in group[:_NAMES]:
            if row.name != kind:
                nodes.append(Node(place, row.name, _sum([row], each), where, note=f"{row.count / each:,.4g}{per}"))


def _sum(rows: list[OpRow], steps: int) -> float:
    return round(sum(row.self_ms for row in rows) / steps, 4)
