"""Options of ``tf.function`` and ``compile``: ``reduce_retracing=True``, ``steps_per_execution=N``."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, keyword
from tfperfkit.fixing.module import Module, dotted
from tfperfkit.records.trials import parse_change
from tfperfkit.remedy import Setting

_FUNCTION = "tensorflow.function"
_GIVEN = ("reduce_retracing", "experimental_relax_shapes")


def _add_reduce_retracing(case: Case) -> list[Edit]:
    """Add the option to the decorator at the finding's place, or to a call of ``tf.function`` there."""
    for module, span in case.places():
        function = module.function_at(span.line, span.function)
        for item in function.decorators if function is not None else ():
            bare = item.decorator
            if module.imported(bare) == _FUNCTION:
                return [Edit(module.file, item, lambda node: node.with_changes(decorator=_with_option(node.decorator)))]
            if isinstance(bare, cst.Call) and module.imported(bare.func) == _FUNCTION:
                return [_add_option(module, bare)]
        for call in module.calls:
            if module.line(call) == span.line and module.imported(call.func) == _FUNCTION:
                return [_add_option(module, call)]
    raise NoFix("there is no tf.function of yours at its place")


def _add_option(module: Module, call: cst.Call) -> Edit:
    names = [item.keyword.value for item in call.args if item.keyword is not None]
    given = next((name for name in names if name in _GIVEN or name.endswith("_signature")), "")
    if given:
        raise NoFix(f"the tf.function has {given} already")
    compiled = argument(call, "jit_compile")
    if compiled is not None and not (
        isinstance(compiled.value, cst.Name) and compiled.value.value in ("False", "None")
    ):
        raise NoFix("XLA compiles each shape again, however it is traced")
    return keyword(module.file, call, "reduce_retracing", cst.Name("True"))


def _with_option(decorator: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(decorator, cst.Call):  # by another finding's patch
        return decorator
    given = cst.Arg(
        cst.Name("True"),
        keyword=cst.Name("reduce_retracing"),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    return cst.Call(decorator, [given])


REDUCE_RETRACING = Fixer(
    "leaves varying sizes open in the trace",
    _add_reduce_retracing,
    "the first change of a size is still one retrace",
    keeps="mathematics",
)


#: The number with which the gain was measured, see ``docs/findings/STP009.md``.
_USUAL = "32"


def _add_steps_per_execution(case: Case) -> list[Edit]:
    """Add the option to ``compile`` at one of the finding's places, or of the model that is fitted there."""
    for module, span in case.places():
        call = _find_compile(module, span.line)
        if call is None:
            continue
        if argument(call, "steps_per_execution") is not None:
            raise NoFix("compile has steps_per_execution already")
        given = argument(call, "run_eagerly")
        if given is not None and dotted(given.value) != "False":
            raise NoFix("the model runs eagerly: take that out first")
        return [keyword(module.file, call, "steps_per_execution", cst.Integer(_choose_steps(case)))]
    raise NoFix("the steps are a loop of its own, or the model's compile() is not to be seen from its place")


def _find_compile(module: Module, line: int) -> cst.Call | None:
    at = module.methods_at(line, "compile")
    if len(at) == 1:
        return at[0]
    every = [call for call in module.calls if module.line(call) and _is_compile(module, call)]
    for fit in module.methods_at(line, "fit"):
        model = dotted(fit.func.value) if isinstance(fit.func, cst.Attribute) else None
        same = [
            call
            for call in every
            if isinstance(call.func, cst.Attribute) and model and dotted(call.func.value) == model
        ]
        found = same or every
        return found[0] if len(found) == 1 else None
    return None


def _is_compile(module: Module, call: cst.Call) -> bool:
    is_method = isinstance(call.func, cst.Attribute) and call.func.attr.value == "compile"
    return is_method and module.imported(call.func) is None  # not re.compile


def _choose_steps(case: Case) -> str:
    """As many steps as a trial measured, else as the remedy says, else the usual number."""
    measured = case.finding.measured
    try:
        value = parse_change(measured.experiment).value if measured is not None else ""
    except ValueError:
        value = ""
    if value.isdecimal() and int(value) > 1:
        return value
    remedy = case.finding.remedy
    return str(remedy.value) if isinstance(remedy, Setting) and remedy.value else _USUAL


STEPS_PER_EXECUTION = Fixer(
    "runs several steps in one call",
    _add_steps_per_execution,
    "callbacks hear of the batches of one call together",
    tried=False,
)
