"""Rows that are repeated and then go through a network, each of them again: to repeat what comes out gives the same."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.optable import is_heavy
from tfperfkit.graph.products import product_of
from tfperfkit.graph.sizes import BINARY, UNARY
from tfperfkit.graph.uses import names_rows
from tfperfkit.graph.view import Use, View
from tfperfkit_probes.ops.model import Wasted

KIND = "repeats"
_MIN_TIMES = 4
_MAX_OPERATIONS = 500
#: Numbers, and the indices that an embedding looks up.
_NUMBERS = frozenset({"float16", "bfloat16", "float32", "float64", "int32", "int64"})
_REPEATS = frozenset({"Tile", "BroadcastTo"})


def repeats(view: View) -> Iterator[Wasted]:
    """By repeated rows of numbers, and the operations after them that work row by row, a product among them. Both sides
    of all pairs are one cause."""
    found = []
    for node in view.forward:
        if _repeats(view, node):
            ways = [each for each in (_of(view, node), _whole(view, node)) if each is not None]
            found += [max(ways, key=lambda each: len(each.operations))] if ways else []
    if not found:
        return
    largest = max(found, key=lambda each: max(each.figures["rows"], 1) * each.figures["times"])
    yield msgspec.structs.replace(
        largest,
        places=list(dict.fromkeys(place for each in (largest, *found) for place in each.places)),
        operations=list(dict.fromkeys(name for each in found for name in each.operations)),
        left=max(each.left or 0.0 for each in found),
    )


def _repeats(view: View, node: Node) -> bool:
    """Whether it makes copies of what its first input has: it alone, a lookup of more rows than there are, one tensor
    many times beside itself."""
    if node.type in _REPEATS:
        return True
    if node.type == "GatherV2":
        return names_rows(view, node)
    if node.type in ("Pack", "ConcatV2"):
        return len({view.made(*owner) for owner in node.inputs[: -1 if node.type == "ConcatV2" else None]}) == 1
    if node.type == "Mul" and len(node.inputs) == 2:
        return view.number(view.source(node, 1)) is None and _is_ones(view, node.inputs[1])
    return False


def _is_ones(view: View, owner: tuple[str, int]) -> bool:
    """``tf.ones`` of some shape: a number that a Fill, or a constant of one value, holds."""
    node = view.made(*owner)
    if node is not None and node.type == "Fill":
        return view.number(view.source(node, 1)) == 1.0
    return node is not None and node.type == "Const" and view.filled(node) == 1.0


def _of(view: View, node: Node) -> Wasted | None:
    before, after = view.shape(*node.inputs[0]), view.shape(node.name)
    sizes = view.elements(*node.inputs[0]), view.elements(node.name)
    if not before or not after or before[-1] != after[-1] or before[-1] < 1 or None in sizes:
        return None
    rows = (sizes[0] or 0) // before[-1]
    times = (sizes[1] or 0) / max(sizes[0] or 1, 1)
    if times < _MIN_TIMES or not node.outputs[0].dtype.startswith(("float", "bfloat")):
        return None
    through = _through(view, node, rows * times)
    if not any(product_of(view, each) for each in through):
        return None
    return _wasted(node, through, rows, times)


def _whole(view: View, node: Node) -> Wasted | None:
    """By whole examples, which may be of many rows: what mixes the rows of an example, as attention does, goes on."""
    first = _copies(view, node)
    if first is None:
        return None
    start, rows, times = first
    if times < _MIN_TIMES:
        return None
    through = Flow(view).following(start)
    if not any(is_heavy(each.type) for each in through.nodes):
        return None
    made = _wasted(node, through.nodes if start is node else [start, *through.nodes], rows, times)
    return msgspec.structs.replace(made, takes_flops=through.flops, takes_bytes=through.bytes)


def _copies(view: View, node: Node) -> tuple[Node, int, float] | None:
    """What has copies of examples along its first axis, how many examples there were (0: open), and copies of each: of
    ``tf.tile(x, [n, 1, 1])``, and of ``tf.repeat(x, n, axis=0)``, which tiles a new axis and joins it to the first."""
    before, made = view.shape(*node.inputs[0]), view.shape(node.name)
    if node.type not in _REPEATS or not before or not made or node.outputs[0].dtype not in _NUMBERS:
        return None
    sizes = view.integers(view.source(node, 1))
    if sizes is None or len(sizes) != len(made):
        return None
    aligned = (1,) * (len(made) - len(before)) + before
    if node.type == "BroadcastTo":
        sizes = [1 if size == old else size if old == 1 else 0 for size, old in zip(sizes, aligned, strict=True)]
    axes = [axis for axis, size in enumerate(sizes) if size != 1]
    if axes == [0] and len(before) > 1:
        return node, max(aligned[0], 0), float(sizes[0])
    joined = [use.node for use in view.uses(node) if use.node.type == "Reshape"]
    if axes != [1] or aligned[1] != 1 or len(joined) != 1 or len(view.uses(node)) != 1:
        return None
    inner = view.shape(joined[0].name) or ()
    if len(inner) != len(made) - 1 or len(inner) < 2 or -1 in inner[1:] or inner[1:] != made[2:]:
        return None
    return joined[0], max(aligned[0], 0), float(sizes[1])


def _wasted(node: Node, through: list[Node], rows: int, times: float) -> Wasted:
    places = [each.place for each in (node, *through) if each.place is not None]
    return Wasted(
        kind=KIND,
        where=places[0] if places else None,
        places=list(dict.fromkeys(places)),
        operations=[node.name, *(each.name for each in through)],
        left=1 / times,
        figures={"rows": rows, "times": times},
    )


def _through(view: View, node: Node, rows: float) -> list[Node]:
    """The operations after repeated rows that make each row of that row alone."""
    found: dict[str, Node] = {}
    pending = [node]
    while pending and len(found) < _MAX_OPERATIONS:
        for use in view.uses(pending.pop()):
            if use.node.name not in found and _by_row(view, use, rows):
                found[use.node.name] = use.node
                pending.append(use.node)
    return list(found.values())


def _by_row(view: View, use: Use, rows: float) -> bool:
    node = use.node
    before, made = view.shape(*node.inputs[use.number]), view.shape(node.name)
    count = view.elements(node.name)
    if not before or not made or count is None or made[-1] < 1:
        return False
    if use.number == 0 and (node.type in UNARY or node.type in ("Softmax", "BiasAdd")):
        return True
    if view.reshapes(node) and use.number == 0:
        return made[-1] == before[-1]
    if node.type in BINARY:
        others = [owner for number, owner in enumerate(node.inputs) if number != use.number]
        return all((view.elements(*owner) or count) <= made[-1] for owner in others)
    product = product_of(view, node)
    if product is None or use.number != 0:
        return False
    summed = [label for label in product.left if label not in product.out]
    return summed == [product.left[-1]] and product.right[-1:] not in product.left and count == rows * made[-1]
