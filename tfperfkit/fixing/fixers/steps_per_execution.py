"""``steps_per_execution=N`` in the model's ``compile``."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, keyword
from tfperfkit.fixing.module import Module, dotted
from tfperfkit.records.trials import parse_change
from tfperfkit.remedy import Setting

#: What the gain was measured with, see ``docs/findings/STP009.md``.
_USUAL = "32"


def fix(case: Case) -> list[Edit]:
    """Of the ``compile`` at one of the finding's places, or of the model that is fitted there."""
    for module, span in case.places():
        call = _compile(module, span.line)
        if call is None:
            continue
        if argument(call, "steps_per_execution") is not None:
            raise NoFix("compile has steps_per_execution already")
        given = argument(call, "run_eagerly")
        if given is not None and dotted(given.value) != "False":
            raise NoFix("the model runs eagerly: take that out first")
        return [keyword(module.file, call, "steps_per_execution", cst.Integer(_together(case)))]
    raise NoFix("the steps are a loop of its own, or the model's compile() is not to be seen from its place")


def _compile(module: Module, line: int) -> cst.Call | None:
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


def _together(case: Case) -> str:
    """So many as a trial measured, else as the remedy says, else the usual number."""
    measured = case.finding.measured
    try:
        value = parse_change(measured.experiment).value if measured is not None else ""
    except ValueError:
        value = ""
    if value.isdecimal() and int(value) > 1:
        return value
    remedy = case.finding.remedy
    return str(remedy.value) if isinstance(remedy, Setting) and remedy.value else _USUAL


FIXER = Fixer("runs several steps in one call", fix, "callbacks hear of the batches of one call together", tried=False)
