"""Floating-point operations of one graph operation, from the types of what it takes and makes.

A multiply-add is two. Matrix products and convolutions are exact (padding is counted as computed, as everyone does);
element-wise operations count one per element whatever the function, and a few compound ones by the factors below.
Types that are not listed move data and count none. The same conventions as TensorFlow's ``flops_registry``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tfperfkit_probes.ops.graph import Node, Type

#: A count of None: a size is open.
Count = float | None
_Formula = Callable[[Node, Sequence[Type], Sequence[Type]], Count]

#: Operations that count so much per element of what they make.
PER_OUTPUT = {
    **dict.fromkeys(
        (
            "Abs",
            "Add",
            "AddV2",
            "Sub",
            "Mul",
            "MulNoNan",
            "Div",
            "RealDiv",
            "DivNoNan",
            "Mod",
            "FloorMod",
            "FloorDiv",
            "Neg",
            "Sign",
            "Square",
            "SquaredDifference",
            "Sqrt",
            "Rsqrt",
            "Reciprocal",
            "Inv",
            "Pow",
            "Exp",
            "Expm1",
            "Log",
            "Log1p",
            "Sin",
            "Cos",
            "Tan",
            "Tanh",
            "Sigmoid",
            "Erf",
            "Erfc",
            "Relu",
            "Relu6",
            "LeakyRelu",
            "Elu",
            "Selu",
            "Softplus",
            "Softsign",
            "Maximum",
            "Minimum",
            "BiasAdd",
            "Floor",
            "Ceil",
            "Round",
            "Rint",
            "ReluGrad",
            "Relu6Grad",
            "LeakyReluGrad",
            "Xlogy",
            "Xlog1py",
            "Atan2",
            "ClipByValue",
            "Cumsum",
            "Cumprod",
        ),
        1.0,
    ),
    **dict.fromkeys(("TanhGrad", "SigmoidGrad", "SqrtGrad", "EluGrad", "SeluGrad", "InvGrad"), 3.0),
    **dict.fromkeys(("RsqrtGrad", "SoftplusGrad", "SoftsignGrad"), 4.0),
    **dict.fromkeys(("Softmax", "LogSoftmax"), 5.0),
}
#: Operations that count so much per element of their first input.
PER_INPUT = {
    **dict.fromkeys(
        (
            "Sum",
            "Mean",
            "Max",
            "Min",
            "Prod",
            "ArgMax",
            "ArgMin",
            "BiasAddGrad",
            "L2Loss",
            "SegmentSum",
            "UnsortedSegmentSum",
            "EuclideanNorm",
        ),
        1.0,
    ),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), 8.0),
    **dict.fromkeys(("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"), 12.0),
    **dict.fromkeys(("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"), 7.0),
    "LRN": 11.0,
}
#: Updates of a variable: so much per element of the update (the input of that number).
PER_UPDATE = {
    "AssignAddVariableOp": (1, 1.0),
    "AssignSubVariableOp": (1, 1.0),
    "ResourceApplyGradientDescent": (2, 2.0),
    "ResourceApplyMomentum": (3, 4.0),
    "ResourceApplyKerasMomentum": (3, 4.0),
    "ResourceApplyAdam": (9, 14.0),
    "ResourceApplyAdagradV2": (4, 6.0),
    "ResourceApplyRMSProp": (7, 9.0),
}


def flops(node: Node, inputs: Sequence[Type]) -> Count:
    """Of one execution of the operation, without the bodies it calls."""
    kind = node.type
    formula = _FORMULAS.get(kind)
    if formula is not None:
        return formula(node, inputs, node.outputs)
    if kind in PER_OUTPUT:
        return _scaled(_elements(node.outputs, 0), PER_OUTPUT[kind]) if _counts(node.outputs) else 0.0
    if kind in PER_INPUT:
        return _scaled(_elements(inputs, 0), PER_INPUT[kind]) if _counts(inputs) else 0.0
    if kind in PER_UPDATE:
        index, factor = PER_UPDATE[kind]
        return _scaled(_elements(inputs, index), factor)
    return 0.0


def _counts(types: Sequence[Type]) -> bool:
    """Integers and Booleans are no floating-point operations."""
    return bool(types) and types[0].dtype.startswith(("float", "bfloat", "half", "complex"))


def _elements(types: Sequence[Type], index: int) -> Count:
    return types[index].elements if -len(types) <= index < len(types) else None


def _scaled(count: Count, factor: float) -> Count:
    return None if count is None else count * factor


def _product(*counts: Count) -> Count:
    result = 1.0
    for count in counts:
        if count is None:
            return None
        result *= count
    return result


def _size(types: Sequence[Type], index: int, axis: int) -> Count:
    if index >= len(types):
        return None
    shape = types[index].shape
    if shape is None or not -len(shape) <= axis < len(shape) or shape[axis] < 0:
        return None
    return shape[axis]


def _matmul(node: Node, inputs: Sequence[Type], outputs: Sequence[Type]) -> Count:
    inner = _size(inputs, 0, -2 if node.flag("transpose_a") else -1)
    return _product(2, _elements(outputs, 0), inner)


def _batch_matmul(node: Node, inputs: Sequence[Type], outputs: Sequence[Type]) -> Count:
    inner = _size(inputs, 0, -2 if node.flag("adj_x") else -1)
    return _product(2, _elements(outputs, 0), inner)


def _filter_work(types: Sequence[Type], index: int, *, depthwise: bool = False) -> Count:
    """Multiply-adds for one element of the convolution's result: the filter's size without its output channels."""
    if index >= len(types) or types[index].shape is None or not types[index].shape:
        return None
    shape = types[index].shape or ()
    return _product(*(None if size < 0 else size for size in (shape[:-2] if depthwise else shape[:-1])))


def _convolution(result: int | None, kernel: int | None, *, depthwise: bool = False) -> _Formula:
    """``result``, ``kernel``: the inputs of the shape of the forward result and of the filter; None: the output."""

    def formula(node: Node, inputs: Sequence[Type], outputs: Sequence[Type]) -> Count:
        made = _elements(outputs if result is None else inputs, result or 0)
        work = _filter_work(outputs if kernel is None else inputs, kernel or 0, depthwise=depthwise)
        return _product(2, made, work)

    return formula


def _pool(node: Node, inputs: Sequence[Type], outputs: Sequence[Type]) -> Count:
    return _product(_elements(outputs, 0), *(float(size) for size in node.integers("ksize")))


def _pool_grad(node: Node, inputs: Sequence[Type], outputs: Sequence[Type]) -> Count:
    made = _elements(inputs, 1 if node.type == "AvgPoolGrad" else 2)
    return _product(made, *(float(size) for size in node.integers("ksize")))


def _add_n(node: Node, inputs: Sequence[Type], outputs: Sequence[Type]) -> Count:
    return _product(max(len(inputs) - 1, 0), _elements(outputs, 0)) if _counts(outputs) else 0.0


def _einsum(node: Node, inputs: Sequence[Type], outputs: Sequence[Type]) -> Count:
    """Each label's size once, times two: a product of two tensors summed over the labels that the result lacks."""
    left = node.text_attr("equation").replace(" ", "").partition("->")[0].split(",")
    sizes: dict[str, int] = {}
    for labels, type_ in zip(left, inputs, strict=False):
        if type_.shape is None or "..." in labels or len(labels) != len(type_.shape):
            return None
        sizes.update(zip(labels, type_.shape, strict=True))
    if any(size < 0 for size in sizes.values()):
        return None
    return float(math.prod(sizes.values()) * (2 if len(left) > 1 else 1))


_FORMULAS: dict[str, _Formula] = {
    "MatMul": _matmul,
    "BatchMatMul": _batch_matmul,
    "BatchMatMulV2": _batch_matmul,
    "BatchMatMulV3": _batch_matmul,
    "Conv2D": _convolution(None, 1),
    "Conv3D": _convolution(None, 1),
    "Conv2DBackpropInput": _convolution(2, 1),
    "Conv3DBackpropInputV2": _convolution(2, 1),
    "Conv2DBackpropFilter": _convolution(2, None),
    "Conv3DBackpropFilterV2": _convolution(2, None),
    # A depthwise filter is [height, width, channels, multiplier]: each result sees one channel.
    "DepthwiseConv2dNative": _convolution(None, 1, depthwise=True),
    "DepthwiseConv2dNativeBackpropInput": _convolution(2, 1, depthwise=True),
    "DepthwiseConv2dNativeBackpropFilter": _convolution(2, None, depthwise=True),
    "MaxPool": _pool,
    "AvgPool": _pool,
    "MaxPoolV2": _pool,
    "MaxPool3D": _pool,
    "AvgPool3D": _pool,
    "MaxPoolGrad": _pool_grad,
    "AvgPoolGrad": _pool_grad,
    "AddN": _add_n,
    "Einsum": _einsum,
}
