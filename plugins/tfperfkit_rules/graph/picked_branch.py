"""GRF017: several networks run on all rows, and each row takes the result of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.hot import one_hot
from tfperfkit.graph.model import Node
from tfperfkit.graph.products import product_of
from tfperfkit.graph.sizes import RESHAPES
from tfperfkit.graph.slices import taken
from tfperfkit.graph.view import FOLLOWED, View
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule

BRANCHES_MIN = Threshold(
    3,
    "branches",
    "minimum number of branches of which each row takes some",
    Chosen("of two half would stay, and parting the rows takes time"),
)
_SELECTS = optable.names(kind="select", differentiates=False)
_SUMS = optable.names(kind="sum-of-many") | {"Add", "AddV2"}
_LOOKUPS = ("GatherV2", "GatherNd")
#: Operations that weigh a stack of values and add it up.
_WEIGHED_SUMS = optable.names(trait="batched") | {"Einsum"}
_MOVES = RESHAPES | optable.names(kind="transpose", differentiates=False)
_SLICES = optable.names(kind="slice", differentiates=False)
_KEEPS_MASK = RESHAPES | _SLICES | {"Cast", "BroadcastTo"}
_COLUMNS = _SLICES | optable.names(kind=("unstack", "split"), differentiates=False) | {"GatherV2"}
_GIVEN = optable.names(kind=("placeholder", "constant", "read"))
_Owner = tuple[str, int]


class PickedBranches(Cause, frozen=True, kw_only=True):
    """Of ``branches`` that are computed for each row, a row takes ``taken``."""

    branches: int
    taken: int = 1


class PickedBranch(GraphRule[PickedBranches]):
    """Finds chains of selections, and sums of masked values, whose masks compare one tensor with a different constant
    each (or are the columns of one-hot vectors); also values that are stacked, of which a lookup takes one a row."""

    code = "GRF017"
    title = "All branches run on all rows; tf.where keeps one"

    def find(self, view: View) -> Iterator[PickedBranches]:
        """Yield the branches with products of which each row takes half or fewer."""
        inner: set[str] = set()
        for node in reversed(view.forward):  # the outermost of a chain first
            if node.name in inner:
                continue
            branches, chain, taken = _find_choice(view, node)
            inner.update(chain)
            regions = [_find_region(view, owner, set(chain)) for owner in branches]
            working = [region for region in regions if any(product_of(view, each) for each in region)]
            if len(working) < BRANCHES_MIN.value or 2 * taken > len(working):
                continue
            nodes = [each for region in working for each in region]
            places = [each.place for each in (*nodes, node) if each.place is not None]
            costly = next((each for region in working for each in region if product_of(view, each)), None)
            yield PickedBranches(
                where=_find_common_line(view, costly, chain) or (places[0] if places else None),
                places=list(dict.fromkeys(places)),
                operations=list(dict.fromkeys((*(each.name for each in nodes), *chain))),
                left=taken / len(working),
                branches=len(working),
                taken=taken,
            )

    def report(self, evidence: Evidence, part: Part[PickedBranches]) -> Finding:
        """Advise to give each branch its own rows."""
        branches, taken = part.cause.branches, part.cause.taken
        return self.finding(
            evidence,
            part,
            f"All {branches} branches run on all rows; each row uses {'one' if taken == 1 else taken}",
            "Give each branch its own rows: parts = tf.dynamic_partition(x, which, n), run branch i on parts[i], and "
            "join the results with tf.dynamic_stitch(tf.dynamic_partition(tf.range(tf.shape(x)[0]), which, n), "
            "results). Or, if each branch is one small layer: multiply each row by tf.gather(stacked_weights, which).",
            f"{branches - taken} of {branches} results of each row are discarded; their gradients are zero, but "
            "computed "
            "all the same. After the change, dropout and batch normalisation in a branch see only its own rows.",
            count("branches", branches),
        )


class _Choice(NamedTuple):
    """The values of which each row takes some, the operations that pick, and how many a row takes."""

    values: list[_Owner]
    chain: list[str]
    taken: int = 1


_NONE = _Choice([], [], 0)


def _find_common_line(view: View, costly: Node | None, chain: list[str]) -> SourceSpan | None:
    """The line of a branch's work in the function that picks: if that calls what computes it, the branches stand side
    by side. If the work is not below that function, the line of the work itself."""
    picks = next((view.nodes[name] for name in reversed(chain) if name in view.nodes), None)
    if costly is None or picks is None or not 0 < len(picks.stack) <= len(costly.stack):
        return costly.place if costly is not None else None
    # As many calls deep: names alone don't tell the functions of two classes apart.
    at, picking = SourceSpan(*costly.stack[-len(picks.stack)]), SourceSpan(*picks.stack[0])
    return at if (at.file, at.function) == (picking.file, picking.function) else costly.place


def _find_choice(view: View, node: Node) -> _Choice:
    """Return the values that an operation chooses from, if it is the last one that picks."""
    if node.type in _SELECTS:
        return _follow_selections(view, node)
    if node.type in _SUMS:
        return _follow_masks(view, node)
    if len(node.inputs) > 1:
        return _find_lookup(view, node)
    return _NONE


def _follow_selections(view: View, node: Node) -> _Choice:
    found: list[_Owner] = []
    chain: list[str] = []
    compared: set[tuple[object, float]] = set()
    current: Node | None = node
    while current is not None and current.type in _SELECTS:
        with_what = _read_mask(view, current.inputs[0])
        if with_what is None or with_what in compared or len({name for name, _ in (*compared, with_what)}) > 1:
            break
        compared.add(with_what)
        found.append(current.inputs[1])
        chain.append(current.name)
        current = view.source(current, 2)
    return _Choice(found, chain)


def _follow_masks(view: View, node: Node) -> _Choice:
    """Follow a sum of products, each with its own mask. All sums that go into it are looked at here, once."""
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
            if source.type in _SUMS:
                pending.append(source)
            elif source.type == "Mul" and len(source.inputs) == 2:
                for mask, value in (source.inputs, source.inputs[::-1]):
                    with_what = _read_mask(view, mask)
                    if with_what is not None:
                        found.setdefault(with_what, (value, source.name))
                        break
    # Along a residual stream there may be several such sums: the one with the most branches stands for all.
    often = Counter(name for name, _ in found)
    largest = often.most_common(1)[0][0] if often else None
    values = [(value, made) for (name, _), (value, made) in found.items() if name == largest]
    return _Choice([value for value, _ in values], [*chain, *(made for _, made in values)])


def _find_lookup(view: View, node: Node) -> _Choice:
    """``tf.gather(tf.stack(values, 1), which, batch_dims=1)``, ``tf.gather_nd`` of it with the row's number, or a mask
    times the stack, summed, whose rows have few numbers other than zero."""
    chain = [node.name]
    picks = 1
    if node.type in _LOOKUPS:
        batched, each = node.attr("batch_dims"), view.shape(*node.inputs[1])
        named = node.type == "GatherNd" and bool(each) and each is not None and each[-1] > 1
        stacks = [view.source(node, 0)] if named or (batched is not None and batched.i) else []
    else:
        weighed = view.source(node, 0) if node.type == "Sum" else node
        if weighed is None or not (weighed.type in _WEIGHED_SUMS or (node.type == "Sum" and weighed.type == "Mul")):
            return _NONE
        chain.append(weighed.name)
        sides = [view.source(weighed, number) for number in (0, 1)]
        picks = max(one_hot(view, each) for each in sides)
        stacks = sides if picks else []
    for stack in stacks:
        beside = _take_apart(view, stack) if stack is not None else None
        if beside is not None:
            return _Choice(beside[0], [*chain, *beside[1]], picks)
    return _NONE


def _take_apart(view: View, node: Node) -> tuple[list[_Owner], list[str]] | None:
    """Return the values that are next to one another in a tensor, and the operations that put them there: ``tf.stack``,
    or ``tf.concat`` and a reshape that gives each a place of its own."""
    chain = [node.name]
    current: Node | None = node
    while current is not None and current.type in _MOVES and len(chain) < FOLLOWED:
        current = view.source(current, 0)
        chain.append(current.name if current is not None else "")
    if current is None or current.type not in ("Pack", "ConcatV2"):
        return None
    values = current.inputs[: -1 if current.type == "ConcatV2" else None]
    sizes = {view.elements(*owner) for owner in values}
    return (list(values), chain) if len(sizes) == 1 and (current.type == "Pack" or len(chain) > 1) else None


def _read_mask(view: View, owner: _Owner) -> tuple[object, float] | None:
    """The tensor that a mask compares with a constant, and the constant; or the one-hot vectors that it is a column of,
    and which. None for another mask."""
    node, output = view.made(*owner), owner[1]
    for _ in range(FOLLOWED):
        if node is None:
            return None
        if node.type == "Equal":
            for one, other in ((0, 1), (1, 0)):
                values, number = view.integers(view.source(node, other)), view.number(view.source(node, other))
                source = view.source(node, one)
                if values is not None and len(values) == 1:
                    number = float(values[0])
                if number is not None and source is not None:
                    return view.alike.make_key((source.name, 0)), number
            return None
        column = _find_column(view, node, output)
        if column is not None:
            return column
        if node.type not in _KEEPS_MASK:
            return None
        output = node.inputs[0][1] if node.inputs else 0
        node = view.source(node, 0)
    return None


def _find_column(view: View, node: Node, output: int) -> tuple[object, float] | None:
    """Which column of one-hot vectors it is, and of which."""
    if node.type not in _COLUMNS:
        return None
    vectors = view.source(node, 1 if node.type == "Split" else 0)
    shape = view.shape(vectors.name) if vectors is not None else None
    if vectors is None or vectors.type != "OneHot" or not shape or shape[-1] < 1:
        return None
    key = view.alike.make_key((vectors.name, 0))
    if len(node.outputs) > 1:
        return (key, float(output)) if len(node.outputs) == shape[-1] else None
    part = taken(view, node, shape[-1], len(shape) - 1)
    return (key, float(part[0])) if part is not None and part[1] - part[0] == 1 else None


def _find_region(view: View, owner: _Owner, chain: set[str]) -> list[Node]:
    """The operations that a value alone needs."""
    found: dict[str, Node] = {}
    pending = [owner[0]]
    while pending:
        node = view.nodes.get(pending.pop())
        if node is None or node.name in found or node.type in _GIVEN:
            continue
        if node.name in view.results:
            continue
        users = {use.node.name for output in range(len(node.outputs)) for use in view.uses(node, output)}
        if users <= (chain | found.keys()):
            found[node.name] = node
            pending += [name for name, _ in node.inputs]
    return list(found.values())
