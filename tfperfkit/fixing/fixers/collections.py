"""Explicit ``gc.collect()`` out of the loop."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, without_statement


def fix(case: Case) -> list[Edit]:
    """Lines that do nothing but collect, in a loop or in a function that one calls."""
    edits: list[Edit] = []
    for module, span in case.places():
        for node in module.lines_at(span.line):
            call = node.body[0].value if len(node.body) == 1 and isinstance(node.body[0], cst.Expr) else None
            if not isinstance(call, cst.Call) or module.imported(call.func) != "gc.collect":
                continue
            if any(isinstance(item, (cst.For, cst.While, cst.FunctionDef)) for item in module.around(node)):
                edits += without_statement(module.file, node, next(module.around(node)))
    if not edits:
        raise NoFix("no line that only calls gc.collect() stands at its places")
    return edits


FIXER = Fixer("takes gc.collect() out of the loop", fix, "Python still collects by itself; watch the memory once")
