"""A tensor for the Python number that varies, at the call that passes it."""

from __future__ import annotations

from functools import partial

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, dotted, walk
from tfperfkit.offers import VaryingArguments
from tfperfkit.syntax.argument_uses import find_uses, selects_from_tensors
from tfperfkit.syntax.module import parse


def fix(case: Case) -> list[Edit]:
    """Turn the numbers with a fraction that changed from call to call into tensors; raises NoFix for others."""
    rows = _seen_values(case)
    if not rows:
        raise NoFix("which argument varies is not known of this run")
    edits: list[Edit] = []
    for name, values in rows.items():
        edits.append(_argument(case, name, values))
    return edits


def _seen_values(case: Case) -> dict[str, set[str]]:
    """Return the values that were seen, by argument."""
    offered = case.offers.offer(VaryingArguments)
    places = {(span.file, span.line) for span in case.finding.where}
    found: dict[str, set[str]] = {}
    for row in offered.arguments if offered is not None else ():
        if (row.file, row.line) in places:
            found.setdefault(row.argument, set()).update(row.values)
    return found


def _argument(case: Case, name: str, values: set[str]) -> Edit:
    if not all(map(_is_number, values)):
        raise NoFix(f"{name} is no number")
    whole = all(value.lstrip("+-").isdecimal() for value in values)
    places = list(case.places())
    function = None
    for module, span in places:
        function = module.function_at(span.line, span.function)
        if function is not None:
            with case.assuming(f"{name} may be a tensor of another type"):
                if whole and not _is_index(module, function, name):
                    raise NoFix(
                        f"{name} is a whole number: as a tensor it is int32, which TensorFlow does not mix with floats"
                    )
                if not whole and "float64" in module.tree.code_for_node(function):
                    raise NoFix("the function works with float64: give the number a dtype by hand")
            break
    for module, span in places if function is not None else ():
        given = _find_argument(module, span.line, function, name)
        if given is not None:
            dtype_name = "int32" if whole else "float32"
            constant, dtype = (module.spelled(f"tensorflow.{word}", given) for word in ("constant", dtype_name))
            return Edit(module.file, given, partial(_tensor, constant=constant, dtype=dtype))
    raise NoFix(f"the call that gives {name} is not to be seen from its place")


def _is_index(module: Module, function: cst.FunctionDef, name: str) -> bool:
    """Return whether a function only counts or selects with an argument, which an int32 tensor does as well."""
    syntax = parse(tuple(module.tree.code.split("\n")))
    found = syntax.find_function(module.line(function.name)) if syntax is not None else None
    uses = find_uses(found, name) if found is not None else None
    plain = uses is not None and bool(uses.counts) and not (uses.computes or uses.python or uses.compares)
    return plain and found is not None and selects_from_tensors(found, name)


def _find_argument(module: Module, line: int, function: cst.FunctionDef, name: str) -> cst.Arg | None:
    """Return the argument of the one call of the function on a line; None if there is none."""
    calls = [
        call
        for call in module.calls
        if module.line(call) == line and (dotted(call.func) or "").rpartition(".")[2] == function.name.value
    ]
    if len(calls) != 1:
        return None
    names = [item.name.value for item in (*function.params.posonly_params, *function.params.params)]
    if isinstance(calls[0].func, cst.Attribute) and names[:1] in (["self"], ["cls"]):
        names = names[1:]
    for index, item in enumerate(calls[0].args):
        if item.star:
            return None
        if (item.keyword.value if item.keyword is not None else "".join(names[index : index + 1])) == name:
            return None if _is_tensor(module, item.value) else item
    return None


def _is_tensor(module: Module, value: cst.CSTNode) -> bool:
    return any(
        (module.imported(node.func) or "").startswith("tensorflow.")
        for node in walk(value)
        if isinstance(node, cst.Call)
    )


def _tensor(item: cst.Arg, constant: cst.BaseExpression, dtype: cst.BaseExpression) -> cst.Arg:
    return item.with_changes(value=cst.Call(constant, [cst.Arg(item.value), cst.Arg(dtype)]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


FIXER = Fixer(
    "passes a tensor for the number",
    fix,
    "what Python decides by the number in the function becomes a graph's choice",
    keeps="mathematics",
)
