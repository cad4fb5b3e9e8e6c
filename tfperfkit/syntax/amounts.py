"""How many rows an expression has, as far as the source says it in numbers."""

from __future__ import annotations

from tfperfkit.syntax.expression import Call, Expression

_DEEPEST = 4
#: The argument that holds the shape or the number, and its position, by the last words of an API.
_SHAPES = {
    "zeros": ("shape", 0), "ones": ("shape", 0), "empty": ("shape", 0), "full": ("shape", 0), "normal": ("size", 2),
    "uniform": ("size", 2), "integers": ("size", 2), "randint": ("size", 2), "random": ("size", 0),
    "standard_normal": ("size", 0), "arange": ("stop", 0), "range": ("stop", 0),
}  # fmt: skip
_LIBRARIES = ("numpy.", "tensorflow.", "builtins.range")
#: Functions that return as many rows as they get.
_KEEPS = ("astype", "copy", "numpy.array", "numpy.asarray", "tensorflow.constant", "tensorflow.convert_to_tensor")


def count_rows(node: Expression, depth: int = 0) -> int | None:
    """Count the rows of an array, a list or a range; None unless every value of its names is the same known number."""
    if depth >= _DEEPEST:
        return None
    if node.index is not None:
        last = node.indices[0].bounds[1] if node.indices and node.indices[0].kind == "slice" else None
        return _read_number(last) if last is not None and node.indices[0].bounds[0] is None else None
    if isinstance(node, Call):
        return _count_made_rows(node, depth)
    if not node.is_plain:
        return None
    found = {count_rows(value, depth + 1) for value in node.assigned if value is not node}
    return found.pop() if len(found) == 1 else None


def _count_made_rows(call: Call, depth: int) -> int | None:
    if call.name in _KEEPS and call.arguments:
        return count_rows(call.arguments[0], depth + 1)
    if call.method in _KEEPS and call.receiver is not None:
        return count_rows(call.receiver, depth + 1)
    word = call.name.rpartition(".")[2]
    if word not in _SHAPES or not call.name.startswith(_LIBRARIES):
        return None
    name, position = _SHAPES[word]
    if call.name.startswith("tensorflow.") and word in ("normal", "uniform"):
        name, position = "shape", 0
    if word in ("arange", "range") and len(call.arguments) > 1:
        return None
    shape = call.get_argument(name, position)
    if shape is None:
        return None
    return _read_number(shape.items[0] if shape.items else shape)


def _read_number(node: Expression) -> int | None:
    """Return a whole number that is written, or that a name is assigned everywhere."""
    values = {item.value for item in node.assigned}
    value = values.pop() if len(values) == 1 else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
