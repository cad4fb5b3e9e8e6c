"""GRF015: rows are repeated, or pictures enlarged, before layers that then compute the same for each copy."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.optable import is_heavy
from tfperfkit.graph.products import product_of
from tfperfkit.graph.sizes import BINARY, UNARY
from tfperfkit.graph.view import Use, View
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.copied_rows import (
    COPIES_MIN,
    REPEATS,
    Copied,
    JoinedCopies,
    find_joined_copies,
    is_float,
    makes_copies,
)
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

AFTER_COPIES_MAX = Threshold(
    500, "operations", "maximum number of operations after repeated rows", Chosen("it bounds the search")
)
AFTER_RESIZE_MAX = Threshold(
    20, "operations", "maximum number of operations after an enlarged image", Chosen("it bounds the search")
)
_FIRST_BY_ROW = UNARY | optable.names(kind=("bias", "softmax"), differentiates=False)
#: Each place is a mean of neighbours, with weights whose sum is 1; or one of them as it is.
_RESIZES = optable.names(kind="resize", differentiates=False) - {"ResizeArea", "ScaleAndTranslate"}
_AXES = ("examples", "height", "width", "channels")


class RepeatedRows(Copied, frozen=True, kw_only=True):
    """``rows``: so many are repeated; 0 if that is open."""

    rows: int


class EnlargedPicture(Copied, frozen=True, kw_only=True):
    """``before`` and ``after``: the channels of the enlarged picture, and those that the convolution makes."""

    before: int
    after: int


class CopiesInNetwork(GraphRule[Copied]):
    """Finds repeated rows and enlarged pictures that go into layers which take each row or place alone: to repeat what
    comes out gives the same."""

    code = "GRF015"
    title = "tf.repeat, tf.tile or resize before per-row layers"

    def find(self, view: View) -> Iterator[Copied]:
        """Yield one cause for all repeated rows, for both sides of all pairs belong together; then one for each
        enlarged picture; and copies that are joined to other columns."""
        found = [way for node in view.forward if makes_copies(view, node) and (way := _follow_copies(view, node))]
        if found:
            largest = max(found, key=lambda each: max(each.rows, 1) * each.times)
            yield msgspec.structs.replace(
                largest,
                places=list(dict.fromkeys(place for each in (largest, *found) for place in each.places)),
                operations=list(dict.fromkeys(name for each in found for name in each.operations)),
                left=max(each.left or 0.0 for each in found),
            )
        yield from find_joined_copies(view)
        for node in view.forward:
            if node.type in _RESIZES and (picture := _follow_picture(view, node)) is not None:
                yield picture

    def report(self, evidence: Evidence, part: Part[Copied]) -> Finding:
        """Advise to repeat what comes out."""
        cause = part.cause
        if isinstance(cause, EnlargedPicture):
            return self.finding(
                evidence,
                part,
                f"Image resize by {often(cause.times)}x before a 1 x 1 convolution",
                "Put the 1 x 1 convolution before the resize: Conv2D(channels, 1), then UpSampling2D or "
                "tf.image.resize. Keep activations after both.",
                "A 1 x 1 convolution computes each pixel on its own, so both orders give the same numbers up to "
                "rounding. Put first, it works on few pixels, and fewer channels are enlarged.",
                count("pixels after the resize, per pixel before it", cause.times),
                count("channels before the convolution", cause.before),
                count("channels after it", cause.after),
            )
        if isinstance(cause, JoinedCopies):
            return self._report_joined(evidence, part, cause)
        rows = cause.rows if isinstance(cause, RepeatedRows) else 0
        which = {0: "Each row", 1: "One row"}.get(rows, f"Each of {often(rows)} rows")
        return self.finding(
            evidence,
            part,
            f"{which} goes through the same layers {often(cause.times)} times",
            "Run the network on each row once and repeat its result: tf.repeat(network(rows), count, axis=0). Or, for "
            "scores of all pairs: tf.matmul(users, items, transpose_b=True) of both networks' results.",
            "The copies of a row are equal, and so are their results, up to the first operation that joins them with "
            "something else.",
            *([count("rows", rows)] if rows else []),
            count("copies of each row", cause.times),
        )

    def _report_joined(self, evidence: Evidence, part: Part[Copied], cause: JoinedCopies) -> Finding:
        rows = f"kernel[{cause.begin}:{cause.end}]"
        return self.finding(
            evidence,
            part,
            f"Rows copied {often(cause.times)}x before tf.concat and a matmul",
            f"Multiply first, copy after: apply {rows} to the rows before tf.gather, tf.repeat or tf.tile, copy the "
            "result, and add it to the other columns' product with the other rows of the kernel. Or, with layers: "
            "one Dense for each part, all but one with use_bias=False, and their sum.",
            f"A matmul of joined columns is the sum of each part's matmul. So {cause.end - cause.begin} of "
            f"{cause.columns} columns are multiplied again for each copy. Results are equal up to rounding.",
            count("copies of each row", cause.times),
            count("columns of the copies", cause.end - cause.begin),
            count("columns that the matmul makes", cause.units),
        )


def _follow_copies(view: View, node: Node) -> RepeatedRows | None:
    """Return the operations that follow from copies by single rows, or by whole examples: the longer chain."""
    ways = [each for each in (_follow_rows(view, node), _follow_examples(view, node)) if each is not None]
    return max(ways, key=lambda each: len(each.operations), default=None)


def _follow_rows(view: View, node: Node) -> RepeatedRows | None:
    """By single rows of numbers, with a product among what follows."""
    before, after = view.shape(*node.inputs[0]), view.shape(node.name)
    sizes = view.elements(*node.inputs[0]), view.elements(node.name)
    if not before or not after or before[-1] != after[-1] or before[-1] < 1 or None in sizes:
        return None
    rows = (sizes[0] or 0) // before[-1]
    times = (sizes[1] or 0) / max(sizes[0] or 1, 1)
    if times < COPIES_MIN.value or not is_float(node):
        return None
    following = _collect_by_row(view, node, rows * times)
    if not any(product_of(view, each) for each in following):
        return None
    return _cause(node, following, rows, times)


def _follow_examples(view: View, node: Node) -> RepeatedRows | None:
    """By whole examples, which may be of many rows: what mixes the rows of an example, as attention does, goes on."""
    first = _read_copies(view, node)
    if first is None:
        return None
    start, rows, times = first
    if times < COPIES_MIN.value:
        return None
    following = Flow(view).following(start)
    if not any(is_heavy(each.type) for each in following.nodes):
        return None
    made = _cause(node, following.nodes if start is node else [start, *following.nodes], rows, times)
    return msgspec.structs.replace(made, takes_flops=following.flops, takes_bytes=following.bytes)


def _read_copies(view: View, node: Node) -> tuple[Node, int, float] | None:
    """Return the tensor with copies of examples along its first axis, the number of examples (0: open), and copies of
    each: of ``tf.tile(x, [n, 1, 1])``, and of ``tf.repeat(x, n, axis=0)``, which tiles a new axis and joins it to the
    first."""
    before, made = view.shape(*node.inputs[0]), view.shape(node.name)
    # Integers are the indices that an embedding looks up.
    numbers = is_float(node) or node.outputs[0].dtype in ("int32", "int64")
    if node.type not in REPEATS or not before or not made or not numbers:
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


def _cause(node: Node, following: list[Node], rows: int, times: float) -> RepeatedRows:
    places = [each.place for each in (node, *following) if each.place is not None]
    return RepeatedRows(
        where=places[0] if places else None,
        places=list(dict.fromkeys(places)),
        operations=[node.name, *(each.name for each in following)],
        left=1 / times,
        rows=rows,
        times=times,
    )


def _collect_by_row(view: View, node: Node, rows: float) -> list[Node]:
    """The operations after repeated rows that make each row of that row alone."""
    found: dict[str, Node] = {}
    pending = [node]
    while pending and len(found) < AFTER_COPIES_MAX.value:
        for use in view.uses(pending.pop()):
            if use.node.name not in found and _is_by_row(view, use, rows):
                found[use.node.name] = use.node
                pending.append(use.node)
    return list(found.values())


def _is_by_row(view: View, use: Use, rows: float) -> bool:
    node = use.node
    before, made = view.shape(*node.inputs[use.number]), view.shape(node.name)
    numbers = view.elements(node.name)
    if not before or not made or numbers is None or made[-1] < 1:
        return False
    if use.number == 0 and node.type in _FIRST_BY_ROW:
        return True
    if view.reshapes(node) and use.number == 0:
        return made[-1] == before[-1]
    if node.type in BINARY:
        others = [owner for number, owner in enumerate(node.inputs) if number != use.number]
        return all((view.elements(*owner) or numbers) <= made[-1] for owner in others)
    product = product_of(view, node)
    if product is None or use.number != 0:
        return False
    summed = [label for label in product.left if label not in product.out]
    return summed == [product.left[-1]] and product.right[-1:] not in product.left and numbers == rows * made[-1]


def _follow_picture(view: View, node: Node) -> EnlargedPicture | None:
    """Follow a resize of ``[n, h, w, c]`` whose result goes into convolutions with kernels of 1 x 1."""
    before, after = view.shape(*node.inputs[0]), view.shape(node.name)
    if not before or not after or len(before) != len(_AXES) or min(*before[1:], *after[1:]) < 1 or not is_float(node):
        return None
    times = after[1] * after[2] / (before[1] * before[2])
    following, only = _collect_by_place(view, node)
    made = [shape[-1] for each in following if each.type == "Conv2D" and (shape := view.shape(each.name))]
    if times < COPIES_MIN.value or not made:
        return None
    # With other uses it is enlarged all the same, and with more channels afterwards there would be more to enlarge.
    fewer = only and max(made) < before[-1]
    places = [each.place for each in (node, *following) if each.place is not None]
    return EnlargedPicture(
        where=places[0] if places else None,
        places=list(dict.fromkeys(places)),
        operations=[*([node.name] if fewer else []), *(each.name for each in following)],
        left=max(1 / times, max(made) / before[-1]) if fewer else 1 / times,
        times=times,
        before=before[-1],
        after=max(made),
    )


def _collect_by_place(view: View, node: Node) -> tuple[list[Node], bool]:
    """Return the operations that follow place by place, and whether only 1×1 convolutions take the enlarged image."""
    convolutions = [use.node for use in view.uses(node) if use.number == 0 and _is_by_place(view, use.node)]
    only = len(convolutions) == len(view.uses(node)) and node.name not in view.results
    found = {each.name: each for each in convolutions}
    pending = list(convolutions)
    copies = node.type == "ResizeNearestNeighbor"  # then anything that works place by place may change sides with it
    while pending and len(found) < AFTER_RESIZE_MAX.value:
        for use in view.uses(pending.pop()):
            follows = use.number == 0 and (
                use.node.type == "BiasAdd" or _is_by_place(view, use.node) or (copies and use.node.type in UNARY)
            )
            if follows and use.node.name not in found:
                found[use.node.name] = use.node
                pending.append(use.node)
    return list(found.values()), only


def _is_by_place(view: View, node: Node) -> bool:
    """Whether it is a convolution that makes each place of that place alone."""
    if node.type != "Conv2D" or node.text_attr("data_format", "NHWC") != "NHWC":
        return False
    kernel, before, after = view.shape(*node.inputs[1]), view.shape(*node.inputs[0]), view.shape(node.name)
    return bool(kernel and before and after) and kernel[:2] == (1, 1) and before[1:3] == after[1:3]  # type: ignore[index]
