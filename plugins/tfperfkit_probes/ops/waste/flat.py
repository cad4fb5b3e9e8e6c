"""A dense layer on all places of a picture, or of a sequence: most of a network's weights, each of them read and
updated in each step."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted

KIND = "flat"
#: Places of a picture and numbers of an example: with fewer the layer is small.
_MIN_PLACES, _MIN_NUMBERS = 64, 8192
_DEEPEST = 4


def flat(view: View) -> Iterator[Wasted]:
    """By products of a variable with what was ``[n, h, w, c]`` before it was ``[n, h * w * c]``; or ``[n, t, c]``."""
    for node in view.forward:
        if node.type != "MatMul" or len(node.inputs) != 2 or not _is_variable(view, node):
            continue
        reshaped = view.source(node, 0)
        if reshaped is None or reshaped.type != "Reshape":
            continue
        before, after = view.shape(*reshaped.inputs[0]), view.shape(reshaped.name)
        kernel = view.shape(*node.inputs[1])
        if before is None or after is None or kernel is None or len(before) not in (3, 4, 5) or len(after) != 2:
            continue
        places, numbers = math.prod(before[1:-1]), math.prod(before[1:])
        # A batch that is flattened with its pictures would be no layer on each of them.
        if min(before[1:]) < 1 or numbers != kernel[0] or places < _MIN_PLACES or numbers < _MIN_NUMBERS:
            continue
        yield Wasted(
            kind=KIND,
            where=node.place,
            operations=[node.name, *(each.name for each in view.fused(node))],
            figures={
                "places": float(places),
                "axes": float(len(before) - 2),
                "channels": float(before[-1]),
                "numbers": float(numbers),
                "units": float(kernel[1]),
                "bytes": float(view.bytes(*node.inputs[1])),
            },
        )


def _is_variable(view: View, node: Node) -> bool:
    current = view.source(node, 1)
    for _ in range(_DEEPEST):
        if current is None or current.type != "Cast":
            break
        current = view.source(current, 0)
    return current is not None and current.type == "ReadVariableOp" and not node.flag("transpose_b")
