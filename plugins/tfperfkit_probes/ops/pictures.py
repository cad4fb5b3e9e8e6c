"""The arithmetic of compiled functions by layer."""

from __future__ import annotations

from typing import Any

import msgspec

from tfperfkit.picture import Node, Picture, Tree
from tfperfkit.records.pictures import MAX_NODES
from tfperfkit_probes.ops.model import Function, OpsData

_FUNCTIONS, _FORWARD, _BACKWARD = 12, "forward", "backward"


def pictures(data: Any) -> list[Picture]:
    """One tree: functions, name scopes (as layers make them), forward and backward.

    Draw each function's signature with the most work; nothing if no FLOPs are known.
    """
    found = msgspec.convert(data, OpsData, strict=False)
    ordered = sorted((item for item in found.functions if _flops(item)), key=_flops, reverse=True)
    shown = list({(item.function, item.file, item.line): item for item in reversed(ordered)}.values())[::-1][
        :_FUNCTIONS
    ]
    if not shown:
        return []
    nodes: list[Node] = [Node(-1, "one call of each function", sum(map(_flops, shown)), "all")]
    for function in shown:
        nodes.append(Node(0, function.function, _flops(function), "function", function.file, function.line))
        _layers(function, nodes)
    return [
        Tree(
            key="layers",
            title="Arithmetic by layer",
            unit="FLOPs",
            nodes=tuple(nodes[:MAX_NODES]),
            kinds={"layer": "layer or name scope", _FORWARD: "forward", _BACKWARD: "backward"},
            note="Floating-point operations of one call, as far as shapes tell them: work, not time.",
        )
    ]


def _flops(function: Function) -> float:
    return sum(layer.flops + layer.backward_flops for layer in function.by_layer)


def _layers(function: Function, nodes: list[Node]) -> None:
    top = len(nodes) - 1
    values: dict[str, list[float]] = {}
    for layer in function.by_layer:
        parts = layer.layer.split("/")
        for depth in range(1, len(parts) + 1):
            sums = values.setdefault("/".join(parts[:depth]), [0.0, 0.0, 0.0])
            sums[0] += layer.flops + layer.backward_flops
            if depth == len(parts):
                sums[1] += layer.flops
                sums[2] += layer.backward_flops
    places: dict[str, int] = {}
    for path, (whole, forward, backward) in values.items():
        if whole <= 0:
            continue
        above, _, name = path.rpartition("/")
        nodes.append(Node(places.get(above, top), name, whole, "layer", note=path))
        places[path] = len(nodes) - 1
        for kind, value in ((_FORWARD, forward), (_BACKWARD, backward)):
            if value > 0:
                nodes.append(Node(places[path], kind, value, kind, note=path))
