"""A global precision that costs time: the call that sets it out, or only where there is a GPU."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, under_if, without_statement
from tfperfkit.fixing.module import Module

_FLOATX = ("keras.backend.set_floatx", "keras.config.set_floatx")
_POLICY = ("keras.mixed_precision.set_global_policy", "keras.config.set_dtype_policy")
_HALF = ("mixed_float16", "float16")


def _out(case: Case) -> list[Edit]:
    edits: list[Edit] = []
    for module, line, _ in _switches(case, _FLOATX, ("float64",)):
        edits += without_statement(module.file, line, next(module.around(line)))
    return edits


def _guarded(case: Case) -> list[Edit]:
    edits = []
    for module, line, call in _switches(case, _POLICY, _HALF):
        devices = module.spelled("tensorflow.config.list_physical_devices", call)
        test = cst.Call(devices, [cst.Arg(cst.SimpleString('"GPU"'))])
        edits.append(Edit(module.file, line, under_if(test)))
    return edits


def _switches(
    case: Case, names: tuple[str, ...], values: tuple[str, ...]
) -> list[tuple[Module, cst.SimpleStatementLine, cst.Call]]:
    """The statements at the finding's places that only set a value of these; raises NoFix for none."""
    found = []
    for module, span in case.places():
        for node in module.lines_at(span.line):
            call = node.body[0].value if len(node.body) == 1 and isinstance(node.body[0], cst.Expr) else None
            if not isinstance(call, cst.Call) or len(call.args) != 1 or not _calls(module, call, names):
                continue
            given = call.args[0].value
            if any(isinstance(item, cst.If) for item in module.around(node)):
                continue  # set for some machines only already
            if isinstance(given, cst.SimpleString) and given.evaluated_value in values:
                found.append((module, node, call))
    if not found:
        raise NoFix("no line that only sets the precision of all layers stands at its places")
    return found


def _calls(module: Module, call: cst.Call, names: tuple[str, ...]) -> bool:
    return (module.imported(call.func) or "").removeprefix("tensorflow.") in names


FLOAT32 = Fixer(
    "takes float64 out, so that layers compute in float32",
    _out,
    "results differ in rounding; Keras converts float64 arrays to float32 on the way into the model, operations of "
    "your own do not: cast there",
    keeps="nothing",
)
WHERE_GPU = Fixer(
    "sets the 16-bit policy only where there is a GPU",
    _guarded,
    "results differ in rounding; a checkpoint of either loads into the other; loss scaling is off without the policy",
    keeps="nothing",
)
