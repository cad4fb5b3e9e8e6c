"""Values of which only the last dimension is known to stay the same: ``x.shape[-1]`` of a spectrogram does not follow
from the clip."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfperfkit.syntax.flow.values import Value

_ELEMENTWISE: tuple[str, ...] = (
    "abs",
    "square",
    "sqrt",
    "exp",
    "log",
    "log1p",
    "pow",
    "maximum",
    "minimum",
    "add",
    "subtract",
)
_ELEMENTWISE += ("multiply", "divide", "negative", "real", "imag", "angle", "conj", "sigmoid", "tanh")
#: Operations on each element by itself, whose results are as wide as the widest argument. Those of NumPy are left out:
#: an array can be given another shape.
ALIKE = frozenset(
    {f"{module}.{name}" for module in ("tensorflow", "tensorflow.math", "keras.ops") for name in _ELEMENTWISE}
    | {f"tensorflow.{name}" for name in ("cast", "identity", "stop_gradient", "clip_by_value", "nn.relu")}
)
#: The width follows from all arguments but the first, as far as no axis is given, which would be the fifth or a later
#: argument.
FROM_OTHERS = frozenset(
    {"tensorflow.signal.stft", "tensorflow.signal.frame", "tensorflow.one_hot", "keras.ops.one_hot"}
)


def find_width(name: str, node: ast.Call, values: Sequence[Value], varies: Sequence[bool]) -> bool:
    """Return whether the last dimension of what an API returns is the same in each iteration.

    Args:
        name: of the API.
        values: of the arguments, positional ones first.
        varies: whether each of these may differ between iterations.
    """
    if name in ALIKE:
        return all(value.width or not differs for value, differs in zip(values, varies, strict=True))
    plain = 0 < len(node.args) < 5 and not any(isinstance(item, ast.Starred) for item in node.args)
    axes = any(word.arg in ("axis", None) for word in node.keywords)
    return name in FROM_OTHERS and plain and not axes and not any(varies[1:])


def is_last(index: ast.expr) -> bool:
    """Return whether an index is written ``-1``."""
    return isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) and _is_one(index.operand)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1
