"""GRF033: a convolution with a whole kernel that is the product of a column and a row, or a box of a volume."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import UNARY
from tfperfkit.graph.view import FOLLOWED, View
from tfperfkit.model import Finding
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule

SEPARATED_SLOWER = Threshold(
    3.3,
    "ratio",
    "ratio of the time of two convolutions, with a column and a row, to the same part of the whole kernel's time",
    Measured(
        "by processor time 1.9 to 5.9, median 3.9: one channel, three sizes of pictures, kernels of 5 to 53, at a load "
        "of 6 to 18",
        TWO_BUSY_CORES,
        21,
    ),
)
EACH_SEPARATED_SLOWER = Threshold(
    1.4,
    "ratio",
    "ratio of the time of two convolutions, with a column and a row, to the same part of the whole kernel's time, if "
    "each channel is convolved alone (depthwise)",
    Measured(
        "by processor time 1.1 to 1.8: 3 and 16 channels, kernels of 5, 13 and 27; at a load of 6 to 18",
        TWO_BUSY_CORES,
        6,
    ),
)
VOLUME_SEPARATED_SLOWER = Threshold(
    5.6,
    "ratio",
    "ratio of the time of three convolutions of a volume, each along one axis, to the same part of the whole kernel's",
    Measured(
        "by processor time 3.2 to 12, median 5.6: one channel, volumes of 32 and 64, kernels of 5, 7 and 11; at a load "
        "of 17",
        TWO_BUSY_CORES,
        6,
    ),
)
SEPARATED_SIDE_MIN = Threshold(
    5,
    "numbers",
    "minimum side of a kernel, for a column and a row to take clearly less",
    Chosen("of 3 x 3 numbers they take more than half of the arithmetic"),
)
_EACH = "DepthwiseConv2dNative"
#: A dilation takes the maximum of sums, not the sum of products.
_CONVOLUTIONS = optable.names(kind="convolution", axis="first", differentiates=False) - {"Dilation2D"}
_TILES = optable.names(kind="tile", differentiates=False)
_PRODUCTS = optable.names(axis="matmul") | {"Mul"}
_SCALES = optable.names(trait="scales")
_SHIFTS = optable.names(trait="shifts")
_SUMS = _SHIFTS & optable.names(trait="joins")


class SeparableConvolution(Cause, frozen=True, kw_only=True):
    """``sides``: of the largest kernel, two or three; ``channels``: its pairs of channels."""

    sides: tuple[int, ...]
    channels: int


class _Kernel(NamedTuple):
    """``work``: multiplications for each place of the picture; ``left``: so many take as long as a column and a row."""

    node: Node
    shape: tuple[int, ...]
    work: float
    left: float


class SeparableKernel(GraphRule[SeparableConvolution]):
    """Recognised by captured tensors and constants whose numbers were looked at when the function was traced, or by how
    the kernel is made in the function."""

    code = "GRF033"
    title = "Separable kernel convolved as a whole by tf.nn.conv2d"

    def find(self, view: View) -> Iterator[SeparableConvolution]:
        """Yield such convolutions, those of one line or with one kernel together."""
        groups: list[tuple[set[Hashable], list[_Kernel]]] = []
        for node in view.forward:
            if node.type in _CONVOLUTIONS and len(node.inputs) > 1 and (kernel := _kernel(view, node)) is not None:
                keys = {node.place, view.alike.make_key(node.inputs[1])}
                same = [group for group in groups if not keys.isdisjoint(group[0])]
                groups = [group for group in groups if group not in same]
                groups.append((keys.union(*(each for each, _ in same)), [*sum((each for _, each in same), []), kernel]))
        for _, kernels in groups:
            shape = max(kernels, key=lambda kernel: kernel.work).shape
            places = list(dict.fromkeys(place for kernel in kernels if (place := kernel.node.place) is not None))
            yield SeparableConvolution(
                where=next(iter(places), None),
                places=places[1:],
                operations=[kernel.node.name for kernel in kernels],
                left=sum(kernel.left for kernel in kernels) / sum(kernel.work for kernel in kernels),
                sides=shape[:-2],
                channels=math.prod(shape[-2:]),
            )

    def report(self, evidence: Evidence, part: Part[SeparableConvolution]) -> Finding:
        """Advise a convolution along each axis, one after the other."""
        sides, many = part.cause.sides, len(part.cause.operations)
        size, taps = " × ".join(map(str, sides)), " + ".join(map(str, sides))
        if _is_volume(sides):
            advice = (
                "Convolve along one axis after the other: three tf.nn.conv3d with kernels tf.ones((k, 1, 1, 1, 1)), "
                "tf.ones((1, k, 1, 1, 1)) and tf.ones((1, 1, k, 1, 1)). Multiply the result by the box's number."
            )
        else:
            one = part.cause.channels == 1
            row = "tf.nn.conv2d(…, row, 1, 'SAME')" if one else "tf.nn.depthwise_conv2d(…) for each channel"
            advice = (
                "Convolve with a column, then with a row: tf.nn.conv2d(x, column, 1, 'SAME'), then "
                f"{row}. With i, j the place of the largest number: column = kernel[:, j:j+1], "
                "row = kernel[i:i+1] / kernel[i, j]. For a Gaussian, both are its one-dimensional form."
            )
        return self.finding(
            evidence,
            part,
            f"Separable {size} kernel convolved as a whole",
            advice,
            f"The kernel is a product of kernels along each axis: {taps} multiplications for each result instead of "
            f"{' x '.join(map(str, sides))}. Results differ only by rounding.",
            count("multiplications per result, whole kernel", math.prod(sides)),
            count("multiplications per result, one axis after the other", sum(sides)),
            count("convolutions with a separable kernel", many),
        )


def _kernel(view: View, node: Node) -> _Kernel | None:
    shape = view.shape(*node.inputs[1])
    if not shape or min(shape) < 1 or min(shape[:-2], default=0) < SEPARATED_SIDE_MIN.value:
        return None
    made = _find_maker(view, node)
    if made is None:
        return None
    *sides, channels, others = shape
    if _is_volume(sides):
        if not _is_box(view, made):
            return None
        slower, taps = VOLUME_SEPARATED_SLOWER.value, sum(sides) * channels * others
    elif made.name in view.separable or _is_product(view, made):
        # A column for each pair of channels (or for each channel), then a row for each result.
        rows = channels * others if node.type == _EACH else others
        slower = EACH_SEPARATED_SLOWER.value if node.type == _EACH else SEPARATED_SLOWER.value
        taps = sides[0] * channels * others + sides[1] * rows
    else:
        return None
    return _Kernel(node, shape, math.prod(shape), min(slower * taps, math.prod(shape)))


def _is_volume(sides: Sequence[int]) -> bool:
    """Return whether a kernel is of volumes, not of images."""
    match sides:
        case (_, _, _):
            return True
    return False


def _find_maker(view: View, node: Node) -> Node | None:
    """Return what makes the kernel, past changes of shape and size, and copies for each channel."""
    found = view.source(node, 1)
    for _ in range(FOLLOWED):
        number = _passes(view, found) if found is not None else None
        if found is None or number is None:
            return found
        found = view.source(found, number)
    return found


def _passes(view: View, node: Node) -> int | None:
    """Return the number of the input that an operation leaves as it is along a picture's axes, up to one factor for
    all; None for any other operation."""
    if node.inputs and view.reshapes(node):
        return 0
    if node.type in _TILES:
        before, after = view.shape(*node.inputs[0]), view.shape(node.name)
        return 0 if before and after and before[:2] == after[:2] and len(before) == len(after) else None
    if node.type == "Pack":
        axis = node.attr("axis")
        last = axis is not None and axis.i not in (0, 1)
        return 0 if last and len({view.alike.make_key(owner) for owner in node.inputs}) == 1 else None
    if node.type in _SCALES and len(node.inputs) == 2:
        if view.elements(*node.inputs[1]) == 1:
            return 0
        return 1 if node.type == "Mul" and view.elements(*node.inputs[0]) == 1 else None
    return None


def _is_product(view: View, node: Node) -> bool:
    """Whether it is the product of a column and a row; the exponential of their sum is one too, and a box is."""
    if node.type == "Einsum" and len(node.inputs) == 2:
        labels, _, out = node.text_attr("equation").replace(" ", "").partition("->")
        first, _, second = labels.partition(",")
        return len(first) == len(second) == 1 and first != second and sorted(out) == sorted(first + second)
    if node.type == "Exp":
        return _is_sum(view, view.source(node, 0))
    return _is_box(view, node) or (node.type in _PRODUCTS and _crossed(view, node))


def _is_box(view: View, node: Node) -> bool:
    """Whether all its numbers are equal."""
    return node.type == "Fill" or (node.type == "Const" and view.filled(node) is not None)


def _is_sum(view: View, node: Node | None) -> bool:
    """Whether a matrix is a column plus a row, times a number."""
    for _ in range(FOLLOWED):
        if node is None or node.type in _SUMS:
            break
        number = 0 if node.type == "Neg" else _passes(view, node)
        node = view.source(node, number) if number is not None else None
    if node is None or len(node.inputs) != 2:
        return False
    along = [_varies(view, owner, FOLLOWED) for owner in node.inputs]
    return _crossed(view, node) or {1, 2} == {*along}


def _varies(view: View, owner: tuple[str, int], depth: int) -> int:
    """Return the one axis, counted from 1, along which a matrix that ``tf.meshgrid`` made varies; 0 where it is not
    one."""
    node, shape = view.made(*owner), view.shape(*owner)
    if node is None or not depth or shape is None:
        return 0
    if len(shape) == 2 and 1 in shape:
        return 1 if shape[1] == 1 else 2
    if node.type in UNARY | _TILES:
        return _varies(view, node.inputs[0], depth - 1)
    if (node.type == "Pow" or node.type in _SCALES | _SHIFTS) and len(node.inputs) == 2:
        # A number, or a matrix of ones, changes nothing; with itself it is a square.
        kinds = [view.made(*each) for each in node.inputs]
        left = [
            each
            for each, made in zip(node.inputs, kinds, strict=True)
            if view.elements(*each) != 1
            and not (made is not None and (made.type == "Fill" or (made.type == "Const" and view.filled(made))))
        ]
        axes = {_varies(view, each, depth - 1) for each in left}
        return axes.pop() if len(axes) == 1 else 0
    return 0


def _crossed(view: View, node: Node) -> bool:
    """Whether its two inputs are a column and a row, in this order or the other."""
    if len(node.inputs) != 2:
        return False
    column, row = ((view.shape(*owner) or ())[:2] for owner in node.inputs)
    if node.type != "MatMul" and len(row) == 1 and len(column) == 2:
        row = (1, *row)
    if node.type != "MatMul" and len(column) == 2 and column[0] == 1:
        column, row = row, column
    return len(column) == 2 == len(row) and column[1] == 1 == row[0]
