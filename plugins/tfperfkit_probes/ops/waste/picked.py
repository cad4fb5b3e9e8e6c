"""Several branches computed for all rows, of which each row takes one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tfperfkit_probes.ops.graph import Node
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste.products import product_of
from tfperfkit_probes.ops.waste.view import View

KIND = "picked"
_MIN_BRANCHES = 3
_SELECTS = frozenset({"Select", "SelectV2"})
_PASSES = frozenset({"Cast", "Reshape", "ExpandDims", "StridedSlice", "Squeeze", "BroadcastTo", "Identity"})
_PRODUCTS = ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
_DEEPEST = 8
_Owner = tuple[str, int]


def picked(view: View) -> Iterator[Wasted]:
    """By chains of selections, or sums of masked values, whose masks compare one tensor with a different constant each;
    and by values that are stacked, of which a lookup takes one a row."""
    inner: set[str] = set()
    for node in reversed(view.forward):  # the outermost of a chain first
        if node.name in inner:
            continue
        branches, chain = _branches(view, node)
        inner.update(chain)
        regions = [_region(view, owner, set(chain)) for owner in branches]
        working = [region for region in regions if any(product_of(view, each) for each in region)]
        if len(working) < _MIN_BRANCHES:
            continue
        nodes = [each for region in working for each in region]
        places = [each.place for each in (*nodes, node) if each.place is not None]
        costly = next((each.place for region in working for each in region if product_of(view, each)), None)
        yield Wasted(
            kind=KIND,
            where=costly or (places[0] if places else None),
            places=list(dict.fromkeys(places)),
            operations=list(dict.fromkeys((*(each.name for each in nodes), *(each for each in chain)))),
            left=1 / len(working),
            figures={"branches": len(working)},
        )


def _branches(view: View, node: Node) -> tuple[list[_Owner], list[str]]:
    """The values of which each row takes one, and the operations that pick."""
    if node.type in _SELECTS:
        return _selected(view, node)
    if node.type in ("AddV2", "Add", "AddN"):
        return _masked(view, node)
    if node.type in ("GatherV2", "Sum", "Einsum", *_PRODUCTS) and len(node.inputs) > 1:
        return _stacked(view, node)
    return [], []


def _selected(view: View, node: Node) -> tuple[list[_Owner], list[str]]:
    found: list[_Owner] = []
    chain: list[str] = []
    compared: set[tuple[str, float]] = set()
    current: Node | None = node
    while current is not None and current.type in _SELECTS:
        with_what = _compared(view, current.inputs[0])
        if with_what is None or with_what in compared or len({name for name, _ in (*compared, with_what)}) > 1:
            break
        compared.add(with_what)
        found.append(current.inputs[1])
        chain.append(current.name)
        current = view.source(current, 2)
    return found, chain


def _masked(view: View, node: Node) -> tuple[list[_Owner], list[str]]:
    """A sum of products, each with its own mask. All sums that go into it are looked at here, once."""
    found: dict[tuple[str, float], tuple[_Owner, str]] = {}
    chain: list[str] = []
    seen = {node.name}
    pending = [node]
    while pending:
        current = pending.pop()
        chain.append(current.name)
        for number in range(len(current.inputs)):
            source = view.source(current, number)
            if source is None or source.name in seen:
                continue
            seen.add(source.name)
            if source.type in ("AddV2", "Add", "AddN"):
                pending.append(source)
            elif source.type == "Mul" and len(source.inputs) == 2:
                for mask, value in (source.inputs, source.inputs[::-1]):
                    with_what = _compared(view, mask)
                    if with_what is not None:
                        found.setdefault(with_what, (value, source.name))
                        break
    # Along a residual stream there may be several such sums: the one with the most branches stands for all.
    often = Counter(name for name, _ in found)
    largest = often.most_common(1)[0][0] if often else ""
    values = [(value, made) for (name, _), (value, made) in found.items() if name == largest]
    return [value for value, _ in values], [*chain, *(made for _, made in values)]


def _stacked(view: View, node: Node) -> tuple[list[_Owner], list[str]]:
    """``tf.gather(tf.stack(values, 1), which, batch_dims=1)``, or a one-hot mask times the stack, summed."""
    chain = [node.name]
    if node.type == "GatherV2":
        batched, source = node.attr("batch_dims"), view.source(node, 0)
        stack = source if batched is not None and batched.i else None
    else:
        product = view.source(node, 0) if node.type == "Sum" else node
        if product is None or product.type not in ("Mul", "Einsum", *_PRODUCTS):
            return [], []
        chain.append(product.name)
        sides = [view.source(product, number) for number in (0, 1)]
        masked = any(_is_one_hot(view, each) for each in sides)
        stack = next((each for each in sides if each is not None and each.type == "Pack"), None) if masked else None
    if stack is None or stack.type != "Pack":
        return [], []
    return list(stack.inputs), [*chain, stack.name]


def _is_one_hot(view: View, node: Node | None) -> bool:
    for _ in range(_DEEPEST):
        if node is None:
            return False
        if node.type == "OneHot":
            return True
        if node.type not in _PASSES:
            return False
        node = view.source(node, 0)
    return False


def _compared(view: View, owner: _Owner) -> tuple[str, float] | None:
    """The tensor that a mask compares with a constant, and the constant; None for another mask."""
    node = view.made(*owner)
    for _ in range(_DEEPEST):
        if node is None:
            return None
        if node.type == "Equal":
            for one, other in ((0, 1), (1, 0)):
                values = view.integers(view.source(node, other))
                source = view.source(node, one)
                if values is not None and len(values) == 1 and source is not None:
                    return source.name, float(values[0])
            return None
        if node.type not in _PASSES:
            return None
        node = view.source(node, 0)
    return None


def _region(view: View, owner: _Owner, chain: set[str]) -> list[Node]:
    """The operations that a value alone needs."""
    found: dict[str, Node] = {}
    pending = [owner[0]]
    while pending:
        node = view.nodes.get(pending.pop())
        if node is None or node.name in found or node.type in ("Placeholder", "Const", "ReadVariableOp"):
            continue
        if node.name in view.results:
            continue
        users = {use.node.name for output in range(len(node.outputs)) for use in view.uses(node, output)}
        if users <= (chain | found.keys()):
            found[node.name] = node
            pending += [name for name, _ in node.inputs]
    return list(found.values())
