"""Several branches computed for all rows, of which each row takes one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.products import product_of
from tfperfkit.graph.slices import taken
from tfperfkit.graph.view import View
from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste.hot import one_hot

KIND = "picked"
_MIN_BRANCHES = 3
_SELECTS = frozenset({"Select", "SelectV2"})
_PASSES = frozenset({"Cast", "Reshape", "ExpandDims", "StridedSlice", "Squeeze", "BroadcastTo", "Identity"})
_STACKS = ("Pack", "Reshape", "Transpose", "ExpandDims")
_PRODUCTS = ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
_DEEPEST = 8
_Owner = tuple[str, int]


def picked(view: View) -> Iterator[Wasted]:
    """By chains of selections, or sums of masked values, whose masks compare one tensor with a different constant each
    (or are the columns of one-hot vectors); and by values that are stacked, of which a lookup takes one a row."""
    inner: set[str] = set()
    for node in reversed(view.forward):  # the outermost of a chain first
        if node.name in inner:
            continue
        branches, chain, taken = _branches(view, node)
        inner.update(chain)
        regions = [_region(view, owner, set(chain)) for owner in branches]
        working = [region for region in regions if any(product_of(view, each) for each in region)]
        if len(working) < _MIN_BRANCHES or 2 * taken > len(working):
            continue
        nodes = [each for region in working for each in region]
        places = [each.place for each in (*nodes, node) if each.place is not None]
        costly = next((each for region in working for each in region if product_of(view, each)), None)
        yield Wasted(
            kind=KIND,
            where=_side_by_side(view, costly, chain) or (places[0] if places else None),
            places=list(dict.fromkeys(places)),
            operations=list(dict.fromkeys((*(each.name for each in nodes), *(each for each in chain)))),
            left=taken / len(working),
            figures={"branches": len(working), "taken": taken},
        )


def _side_by_side(view: View, costly: Node | None, chain: list[str]) -> SourceSpan | None:
    """The line of a branch's work in the function that picks: where that calls what computes it, the branches stand
    side by side. Where the work is not below that function, the line of the work itself."""
    picks = next((view.nodes[name] for name in reversed(chain) if name in view.nodes), None)
    if costly is None or picks is None or not 0 < len(picks.stack) <= len(costly.stack):
        return costly.place if costly is not None else None
    # As many calls deep: names alone don't tell the functions of two classes apart.
    at, picking = SourceSpan(*costly.stack[-len(picks.stack)]), SourceSpan(*picks.stack[0])
    return at if (at.file, at.function) == (picking.file, picking.function) else costly.place


def _branches(view: View, node: Node) -> tuple[list[_Owner], list[str], int]:
    """The values of which each row takes some, the operations that pick, and how many a row takes."""
    if node.type in _SELECTS:
        return *_selected(view, node), 1
    if node.type in ("AddV2", "Add", "AddN"):
        return *_masked(view, node), 1
    if node.type in ("GatherV2", "GatherNd", "Sum", "Einsum", *_PRODUCTS) and len(node.inputs) > 1:
        return _stacked(view, node)
    return [], [], 0


def _selected(view: View, node: Node) -> tuple[list[_Owner], list[str]]:
    found: list[_Owner] = []
    chain: list[str] = []
    compared: set[tuple[object, float]] = set()
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
    found: dict[tuple[object, float], tuple[_Owner, str]] = {}
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
    largest = often.most_common(1)[0][0] if often else None
    values = [(value, made) for (name, _), (value, made) in found.items() if name == largest]
    return [value for value, _ in values], [*chain, *(made for _, made in values)]


def _stacked(view: View, node: Node) -> tuple[list[_Owner], list[str], int]:
    """``tf.gather(tf.stack(values, 1), which, batch_dims=1)``, ``tf.gather_nd`` of it with the row's number, or a mask
    times the stack, summed, whose rows have few numbers other than zero."""
    chain = [node.name]
    picks, stack = 1, None
    if node.type in ("GatherV2", "GatherNd"):
        batched, source, each = node.attr("batch_dims"), view.source(node, 0), view.shape(*node.inputs[1])
        named = node.type == "GatherNd" and bool(each) and each is not None and each[-1] > 1
        stack = source if named or (batched is not None and batched.i) else None
    else:
        product = view.source(node, 0) if node.type == "Sum" else node
        if product is None or product.type not in ("Mul", "Einsum", *_PRODUCTS):
            return [], [], 0
        chain.append(product.name)
        sides = [view.source(product, number) for number in (0, 1)]
        picks = max(one_hot(view, each) for each in sides)
        stack = next((each for each in sides if each is not None and each.type in _STACKS), None) if picks else None
    beside = _beside(view, stack) if stack is not None else None
    if beside is None:
        return [], [], 0
    return beside[0], [*chain, *beside[1]], picks


def _beside(view: View, node: Node) -> tuple[list[_Owner], list[str]] | None:
    """Values that stand beside one another in a tensor, and what puts them there: ``tf.stack``, or ``tf.concat`` and a
    reshape that gives each a place of its own."""
    chain = [node.name]
    current: Node | None = node
    while current is not None and current.type in ("Reshape", "Transpose", "ExpandDims") and len(chain) < _DEEPEST:
        current = view.source(current, 0)
        chain.append(current.name if current is not None else "")
    if current is None or current.type not in ("Pack", "ConcatV2"):
        return None
    values = current.inputs[: -1 if current.type == "ConcatV2" else None]
    sizes = {view.elements(*owner) for owner in values}
    return (list(values), chain) if len(sizes) == 1 and (current.type == "Pack" or len(chain) > 1) else None


def _compared(view: View, owner: _Owner) -> tuple[object, float] | None:
    """The tensor that a mask compares with a constant, and the constant; or the one-hot vectors that it is a column of,
    and which. None for another mask."""
    node, output = view.made(*owner), owner[1]
    for _ in range(_DEEPEST):
        if node is None:
            return None
        if node.type == "Equal":
            for one, other in ((0, 1), (1, 0)):
                values, number = view.integers(view.source(node, other)), view.number(view.source(node, other))
                source = view.source(node, one)
                if values is not None and len(values) == 1:
                    number = float(values[0])
                if number is not None and source is not None:
                    return view.alike.key((source.name, 0)), number
            return None
        column = _column(view, node, output)
        if column is not None:
            return column
        if node.type not in _PASSES:
            return None
        output = node.inputs[0][1] if node.inputs else 0
        node = view.source(node, 0)
    return None


def _column(view: View, node: Node, output: int) -> tuple[object, float] | None:
    """Which column of one-hot vectors it is, and of which."""
    if node.type not in ("StridedSlice", "Slice", "GatherV2", "Unpack", "Split", "SplitV"):
        return None
    vectors = view.source(node, 1 if node.type == "Split" else 0)
    shape = view.shape(vectors.name) if vectors is not None else None
    if vectors is None or vectors.type != "OneHot" or not shape or shape[-1] < 1:
        return None
    key = view.alike.key((vectors.name, 0))
    if len(node.outputs) > 1:
        return (key, float(output)) if len(node.outputs) == shape[-1] else None
    part = taken(view, node, shape[-1], len(shape) - 1)
    return (key, float(part[0])) if part is not None and part[1] - part[0] == 1 else None


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
