"""Whether a function gives the same on a batch as on each of its examples: known operations on one argument."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.module import Module

#: They look at each element by itself and keep the shape of their first argument.
# fmt: off
_KEEP = frozenset((
    "cast", "abs", "square", "sqrt", "exp", "sigmoid", "tanh", "clip_by_value", "math.log", "math.log1p",
    "math.square", "math.sqrt", "math.exp", "nn.relu", "math.sigmoid", "math.tanh", "identity", "stop_gradient",
    "image.convert_image_dtype",
))
# fmt: on
_NUMBERS = (cst.Integer, cst.Float)


class _Unknown(Exception):
    pass


def not_elementwise(module: Module, function: cst.BaseExpression) -> str:
    """Return why it can't be said; "" where batching first changes nothing. Each value comes from one argument and
    numbers, so that nothing is broadcast over the new dimension."""
    try:
        if isinstance(function, cst.Lambda):
            _result(module, function.body, {item.name.value: item.name.value for item in function.params.params})
        elif isinstance(function, cst.Name):
            _check_function(module, function.value)
        else:
            raise _Unknown("the map's function is not seen")
    except _Unknown as reason:
        return str(reason)
    return ""


def _check_function(module: Module, name: str) -> None:
    """Raise _Unknown unless the function of this name works element by element."""
    found = [node for node in module.nodes if isinstance(node, cst.FunctionDef) and node.name.value == name]
    if len(found) != 1 or found[0].asynchronous is not None or found[0].decorators:
        raise _Unknown(f"{name} is not a plain function of this file")
    known: dict[str, str] = {item.name.value: item.name.value for item in found[0].params.params}
    lines = found[0].body.body
    for line in lines:
        node = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
        if isinstance(node, cst.Return) and node.value is not None and line is lines[-1]:
            _result(module, node.value, known)
            return
        if isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name):
            known[node.targets[0].target.value] = _origin(module, node.value, known)
        elif not (isinstance(node, cst.Expr) and isinstance(node.value, cst.SimpleString)):
            raise _Unknown(f"what {name} does is not known to be the same on a batch (line {module.line(line)})")
    raise _Unknown(f"{name} ends without a value")


def _result(module: Module, node: cst.BaseExpression, known: dict[str, str]) -> None:
    if isinstance(node, cst.Tuple):
        for item in node.elements:
            _result(module, item.value, known)
    else:
        _origin(module, node, known)


def _origin(module: Module, node: cst.CSTNode, known: dict[str, str]) -> str:
    """Return the argument whose shape a value has; "" of a number."""
    if isinstance(node, _NUMBERS):
        return ""
    if isinstance(node, cst.Name) and node.value in known:
        return known[node.value]
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return _origin(module, node.expression, known)
    if isinstance(node, cst.BinaryOperation) and not isinstance(node.operator, cst.MatrixMultiply):
        origins = {_origin(module, node.left, known), _origin(module, node.right, known)} - {""}
        if len(origins) < 2:
            return origins.pop() if origins else ""
    if isinstance(node, cst.Call) and (module.imported(node.func) or "").removeprefix("tensorflow.") in _KEEP:
        origin = _origin(module, node.args[0].value, known)
        rest = [item.value for item in node.args[1:]]
        if all(isinstance(item, _NUMBERS) or (module.imported(item) or "").startswith("tensorflow.") for item in rest):
            return origin
    text = module.tree.code_for_node(node).strip()
    raise _Unknown(f"{text[:60]!r} is not known to give the same on a batch (line {module.line(node)})")
