"""An array of the module that a compiled function takes into its graph becomes a tensor, which the graph gets as an
input."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.hoist import check_unchanged
from tfperfkit.fixing.module import Module, walk


def fix(case: Case) -> list[Edit]:
    """At the first place with a call of TensorFlow that gets an array of the module by its name."""
    for module, span in case.places():
        for call in module.calls:
            if module.line(call) != span.line or not (module.imported(call.func) or "").startswith("tensorflow."):
                continue
            for given in call.args:
                made = _find_array(module, given.value)
                if made is not None and isinstance(given.value, cst.Name):
                    return _make_tensor(module, call, given.value, made)
    raise NoFix("no array of the module is given to TensorFlow at its places")


def _find_array(module: Module, value: cst.BaseExpression) -> cst.SimpleStatementLine | None:
    """Return the statement of the module that is the only one to bind a name."""
    if not isinstance(value, cst.Name) or names.bindings(module.tree, value.value) != 1:
        return None
    found = [item for item in module.tree.body if isinstance(item, cst.SimpleStatementLine)]
    return next((item for item in found if value.value in names.binds([item])), None)


def _make_tensor(module: Module, call: cst.Call, array: cst.Name, made: cst.SimpleStatementLine) -> list[Edit]:
    function = next((node for node in module.around(call) if isinstance(node, cst.FunctionDef)), None)
    if function is None or array.value in names.parameters(function):
        raise NoFix(f"{array.value} is not read in a function")
    check_unchanged(module.tree, {array.value})
    name = f"{array.value}_tensor"
    if any(isinstance(node, cst.Name) and node.value == name for node in module.nodes):
        raise NoFix(f"{name} is a name of the file already")
    constant = module.tree.code_for_node(module.spelled("tensorflow.constant", made))
    line = cst.parse_statement(f"{name} = {constant}({array.value})")
    uses = [node for node in walk(function.body) if isinstance(node, cst.Name) and node.value == array.value]
    for node in uses:
        around = list(module.around(node))[1:2]
        if (
            not around
            or not isinstance(around[0], cst.Call)
            or not (module.imported(around[0].func) or "").startswith("tensorflow.")
        ):
            raise NoFix(f"{array.value} is used by more than TensorFlow in {function.name.value}")
    return [
        Edit(module.file, made, lambda node: cst.FlattenSentinel([node, line])),
        *(Edit(module.file, node, lambda _: cst.Name(name)) for node in uses),
    ]


FIXER = Fixer("makes a tensor of the array once", fix, "the array is in memory twice")
