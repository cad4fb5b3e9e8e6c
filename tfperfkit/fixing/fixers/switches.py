"""Statements that are taken out: switches for debugging, a global precision, ``gc.collect()`` in a loop."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, under_if, without_argument, without_statement
from tfperfkit.fixing.module import Module

_GLOBAL = (
    "tensorflow.config.run_functions_eagerly",
    "tensorflow.config.experimental_run_functions_eagerly",
    "tensorflow.data.experimental.enable_debug_mode",
    "tensorflow.debugging.enable_check_numerics",
)


def _remove_debugging(case: Case) -> list[Edit]:
    """Remove the switches at each of the finding's places."""
    edits: list[Edit] = []
    for module, span in case.places():
        edits += _remove_arguments(module, span.line) or _remove_statements(module, span.line)
    if not edits:
        raise NoFix("there is no switch that is set to True at its places")
    return edits


def _remove_arguments(module: Module, line: int) -> list[Edit]:
    return [
        without_argument(module.file, call, "run_eagerly")
        for call in module.methods_at(line, "compile")
        if (given := argument(call, "run_eagerly")) is not None and _is_true(given.value)
    ]


def _remove_statements(module: Module, line: int) -> list[Edit]:
    edits: list[Edit] = []
    for node in module.lines_at(line):
        if len(node.body) == 1 and _is_debugging(module, node.body[0]):
            edits += without_statement(module.file, node, next(module.around(node)))
    return edits


def _is_debugging(module: Module, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Attribute):
        return node.targets[0].target.attr.value == "run_eagerly" and _is_true(node.value)
    call = node.value if isinstance(node, cst.Expr) else None
    if not isinstance(call, cst.Call) or module.imported(call.func) not in _GLOBAL:
        return False
    return not call.args or (len(call.args) == 1 and _is_true(call.args[0].value))


def _is_true(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "True"


DEBUGGING = Fixer("takes the switch for debugging out", _remove_debugging, keeps="mathematics")


_FLOATX = ("keras.backend.set_floatx", "keras.config.set_floatx")
_POLICY = ("keras.mixed_precision.set_global_policy", "keras.config.set_dtype_policy")
_HALF = ("mixed_float16", "float16")


def _remove_float64(case: Case) -> list[Edit]:
    edits: list[Edit] = []
    for module, line, _ in _find_settings(case, _FLOATX, ("float64",)):
        edits += without_statement(module.file, line, next(module.around(line)))
    return edits


def _guard_half(case: Case) -> list[Edit]:
    edits = []
    for module, line, call in _find_settings(case, _POLICY, _HALF):
        devices = module.spelled("tensorflow.config.list_physical_devices", call)
        test = cst.Call(devices, [cst.Arg(cst.SimpleString('"GPU"'))])
        edits.append(Edit(module.file, line, under_if(test)))
    return edits


def _find_settings(
    case: Case, names: tuple[str, ...], values: tuple[str, ...]
) -> list[tuple[Module, cst.SimpleStatementLine, cst.Call]]:
    """Find the statements at the finding's places that only set one of these values. Raises NoFix if there is none."""
    found = []
    for module, node, call in case.lone_calls():
        name = (module.imported(call.func) or "").removeprefix("tensorflow.")
        if name not in names or len(call.args) != 1:
            continue
        if any(isinstance(item, cst.If) for item in module.around(node)):
            continue  # it is set for some machines only already
        given = call.args[0].value
        if isinstance(given, cst.SimpleString) and given.evaluated_value in values:
            found.append((module, node, call))
    if not found:
        raise NoFix("there is no line that only sets the precision of all layers at its places")
    return found


FLOAT32 = Fixer(
    "takes float64 out, so that layers compute in float32",
    _remove_float64,
    "results differ in rounding; Keras converts float64 arrays to float32 on the way into the model, operations of "
    "your own do not: cast there",
    keeps="nothing",
)
WHERE_GPU = Fixer(
    "sets the 16-bit policy only where there is a GPU",
    _guard_half,
    "results differ in rounding; a checkpoint of either loads into the other; loss scaling is off without the policy",
    keeps="nothing",
)


def _remove_collections(case: Case) -> list[Edit]:
    """Remove lines that only collect, in a loop or in a function, which a loop may call."""
    edits: list[Edit] = []
    for module, node, call in case.lone_calls():
        repeats = any(isinstance(item, (cst.For, cst.While, cst.FunctionDef)) for item in module.around(node))
        if module.imported(call.func) == "gc.collect" and repeats:
            edits += without_statement(module.file, node, next(module.around(node)))
    if not edits:
        raise NoFix("there is no line that only calls gc.collect() at its places")
    return edits


COLLECTIONS = Fixer(
    "takes gc.collect() out of the loop", _remove_collections, "Python still collects by itself; watch the memory once"
)
