"""``reduce_retracing=True`` on the tf.function that is traced for each shape."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, keyword
from tfperfkit.fixing.module import Module

_FUNCTION = "tensorflow.function"
_GIVEN = ("reduce_retracing", "experimental_relax_shapes")


def fix(case: Case) -> list[Edit]:
    """Of the decorator at the finding's place, or of a call of ``tf.function`` there."""
    for module, span in case.places():
        function = module.function_at(span.line, span.function)
        for item in function.decorators if function is not None else ():
            bare = item.decorator
            if module.imported(bare) == _FUNCTION:
                return [Edit(module.file, item, lambda node: node.with_changes(decorator=_called(node.decorator)))]
            if isinstance(bare, cst.Call) and module.imported(bare.func) == _FUNCTION:
                return [_relaxed(module, bare)]
        for call in module.calls:
            if module.line(call) == span.line and module.imported(call.func) == _FUNCTION:
                return [_relaxed(module, call)]
    raise NoFix("no tf.function of yours stands at its place")


def _relaxed(module: Module, call: cst.Call) -> Edit:
    names = [item.keyword.value for item in call.args if item.keyword is not None]
    given = next((name for name in names if name in _GIVEN or name.endswith("_signature")), "")
    if given:
        raise NoFix(f"the tf.function has {given} already")
    compiled = argument(call, "jit_compile")
    if compiled is not None and not (
        isinstance(compiled.value, cst.Name) and compiled.value.value in ("False", "None")
    ):
        raise NoFix("XLA compiles each shape anew, however it is traced")
    return keyword(module.file, call, "reduce_retracing", cst.Name("True"))


def _called(decorator: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(decorator, cst.Call):  # by another finding's patch
        return decorator
    given = cst.Arg(
        cst.Name("True"),
        keyword=cst.Name("reduce_retracing"),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    return cst.Call(decorator, [given])


FIXER = Fixer(
    "leaves varying sizes open in the trace",
    fix,
    "the first change of a size is still one retrace",
    keeps="mathematics",
)
