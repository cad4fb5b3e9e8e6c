"""``from_tensor_slices(x).window(...).flat_map(...)``, which makes a dataset for each window, becomes a map that
gathers a window's rows. A candidate: the source doesn't show that ``x`` is one array."""

from __future__ import annotations

from functools import partial
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.chain import upstream
from tfperfkit.fixing.edit import Edit, NoFix, argument
from tfperfkit.fixing.fixers.stage_order import check_names
from tfperfkit.fixing.module import Module, dotted, method

_ARGUMENTS = frozenset({"size", "shift", "drop_remainder"})
_ARRAYS = (cst.Tuple, cst.List, cst.Dict)


def gather_windows(case: Case) -> list[Edit]:
    """At the first place with a ``flat_map`` of whole windows."""
    for module, span in case.places():
        for flat in module.methods_at(span.line, "flat_map"):
            window, made, *_ = *upstream(module, flat), None, None
            if window is None or made is None or method(window) != "window":
                continue
            edits = _gather(module, flat, window, made)
            case.assumed.append(f"{module.tree.code_for_node(made.args[0].value)} is one array")
            return edits
    raise NoFix("there is no flat_map of windows of from_tensor_slices at its places")


def _gather(module: Module, flat: cst.Call, window: cst.Call, made: cst.Call) -> list[Edit]:
    if module.imported(made.func) != "tensorflow.data.Dataset.from_tensor_slices" or len(made.args) != 1:
        raise NoFix("the windows are not of from_tensor_slices")
    data = made.args[0].value
    if isinstance(data, _ARRAYS) or any(item.keyword and item.keyword.value not in _ARGUMENTS for item in window.args):
        raise NoFix("the windows are of several arrays, or have a stride")
    check_names(module, [flat, window, made])
    size, shift, whole = (_find_argument(window, name, at) for at, name in enumerate(("size", "shift", "drop")))
    whole = whole or getattr(argument(window, "drop_remainder"), "value", None)
    if size is None or whole is None or dotted(whole) != "True":
        raise NoFix("the last windows may be shorter")
    _check_batched(module, flat, size)
    code = module.tree.code_for_node
    every = code(shift) if shift is not None else code(size)
    spelled = {word: code(module.spelled(f"tensorflow.{word}", made)) for word in ("constant", "gather", "range")}
    rows = f"start + {spelled['range']}({code(size)}, dtype={code(module.spelled('tensorflow.int64', made))})"
    taken = names.read(size) | names.read(data)
    if {"start", "values"} & taken:
        raise NoFix("start and values are names of the pipeline already")
    function = cst.parse_expression(
        f"lambda start, values={spelled['constant']}({code(data)}): {spelled['gather']}(values, {rows})"
    )
    starts = [cst.Arg(cst.Integer("0")), cst.Arg(cst.parse_expression(f"len({code(data)}) - {code(size)} + 1"))]
    starts.append(cst.Arg(cst.parse_expression(every)))

    def number(node: Any) -> Any:
        func = node.func.with_changes(attr=cst.Name("range"))
        return node.with_changes(func=func, args=starts)

    def gather(node: Any) -> Any:
        return node.with_changes(func=node.func.with_changes(attr=cst.Name("map")), args=[cst.Arg(function)])

    return [Edit(module.file, made, number), Edit(module.file, window, gather), *_remove_stage(module, flat)]


def _find_argument(call: cst.Call, name: str, at: int) -> Any:
    found = argument(call, name)
    if found is None and at < len(call.args) and call.args[at].keyword is None:
        found = call.args[at]
    return found.value if found is not None else None


def _check_batched(module: Module, flat: cst.Call, size: cst.BaseExpression) -> None:
    """Raise NoFix unless the function of ``flat_map`` is ``lambda window: window.batch(size)``."""
    function = flat.args[0].value if len(flat.args) == 1 else None
    body = function.body if isinstance(function, cst.Lambda) else None
    if (
        not isinstance(function, cst.Lambda)
        or not isinstance(body, cst.Call)
        or method(body) != "batch"
        or not isinstance(body.func, cst.Attribute)
        or names.parameters(function) != {dotted(body.func.value) or ""}
        or not body.args
        or not body.args[0].value.deep_equals(size)
    ):
        raise NoFix("flat_map does not batch whole windows")


def _remove_stage(module: Module, flat: cst.Call) -> list[Edit]:
    """Remove ``.flat_map(...)``; a statement that would only give a name its own value goes as a whole."""
    receiver = flat.func.value if isinstance(flat.func, cst.Attribute) else None
    only, line = list(module.around(flat))[:2]
    alone = isinstance(only, cst.Assign) and isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
    if isinstance(only, cst.Assign) and alone and [dotted(item.target) for item in only.targets] == [dotted(receiver)]:
        return [Edit(module.file, line, lambda node: cst.RemoveFromParent())]
    return [Edit(module.file, flat, partial(_take_receiver))]


def _take_receiver(node: cst.Call) -> cst.BaseExpression:
    receiver: cst.BaseExpression = node.func.value
    return receiver.with_changes(lpar=[*node.lpar, *receiver.lpar], rpar=[*receiver.rpar, *node.rpar])


FIXER = Fixer(
    "gathers the rows of each window",
    gather_windows,
    "the array is in memory as one tensor; the size of a window is known then, so kernels may round differently",
    keeps="mathematics",
)
