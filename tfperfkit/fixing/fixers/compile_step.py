"""``@tf.function`` on the step function that a finding names."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module
from tfperfkit.fixing.traceable import obstacle


def fix(case: Case) -> list[Edit]:
    """Below its other decorators, so that those get the compiled function."""
    module, span = next(iter(case.places()))
    function = module.function_at(span.line, span.function)
    if function is None:
        raise NoFix("the step is no function of its own: make one of the loop's body first")
    return compiled(module, function)


def compiled(module: Module, function: cst.FunctionDef) -> list[Edit]:
    """Raises NoFix where it is compiled already, or can't be."""
    if any("function" in (module.imported(_bare(item)) or "").split(".") for item in function.decorators):
        raise NoFix(f"{function.name.value} is a tf.function already")
    reason = obstacle(module, function)
    if reason:
        raise NoFix(reason)
    decorator = cst.Decorator(module.spelled("tensorflow.function", function))

    def change(node: cst.FunctionDef) -> cst.FunctionDef:
        if any(module.imported(_bare(item)) == "tensorflow.function" for item in node.decorators):
            return node
        return node.with_changes(decorators=(*node.decorators, decorator))

    return [Edit(module.file, function, change)]


def _bare(item: cst.Decorator) -> cst.CSTNode:
    return item.decorator.func if isinstance(item.decorator, cst.Call) else item.decorator


FIXER = Fixer(
    "compiles the step",
    fix,
    "Python in the step runs once for each trace; random numbers and rounding may differ",
    keeps="mathematics",
)
