"""The switches for debugging out: ``run_functions_eagerly(True)``, ``run_eagerly=True``."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, without_argument, without_statement
from tfperfkit.fixing.module import Module

_GLOBAL = (
    "tensorflow.config.run_functions_eagerly",
    "tensorflow.config.experimental_run_functions_eagerly",
    "tensorflow.data.experimental.enable_debug_mode",
    "tensorflow.debugging.enable_check_numerics",
)


def fix(case: Case) -> list[Edit]:
    """At each of the finding's places."""
    edits: list[Edit] = []
    for module, span in case.places():
        edits += _arguments(module, span.line) or _statements(module, span.line)
    if not edits:
        raise NoFix("no switch that is set to True stands at its places")
    return edits


def _arguments(module: Module, line: int) -> list[Edit]:
    return [
        without_argument(module.file, call, "run_eagerly")
        for call in module.methods_at(line, "compile")
        if (given := argument(call, "run_eagerly")) is not None and _is_true(given.value)
    ]


def _statements(module: Module, line: int) -> list[Edit]:
    edits: list[Edit] = []
    for node in module.lines_at(line):
        if len(node.body) == 1 and _switches(module, node.body[0]):
            edits += without_statement(module.file, node, next(module.around(node)))
    return edits


def _switches(module: Module, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Assign) and len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Attribute):
        return node.targets[0].target.attr.value == "run_eagerly" and _is_true(node.value)
    call = node.value if isinstance(node, cst.Expr) else None
    if not isinstance(call, cst.Call) or module.imported(call.func) not in _GLOBAL:
        return False
    return not call.args or (len(call.args) == 1 and _is_true(call.args[0].value))


def _is_true(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "True"


FIXER = Fixer("takes the switch for debugging out", fix, keeps="mathematics")
