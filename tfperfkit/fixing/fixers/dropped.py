"""A statement or an argument that is left out: a candidate, because the source does not show that nothing needs it."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, without_argument, without_statement


def _drop_statement(case: Case) -> list[Edit]:
    """Remove the first lone call at the finding's places."""
    for module, statement, call in case.lone_calls():
        case.assumed.append(f"nothing needs {module.tree.code_for_node(call.func)}(...) in each iteration")
        parent = next(iter(module.around(statement)))
        if isinstance(parent, (cst.IndentedBlock, cst.Module)) and len(parent.body) > 1:
            return without_statement(module.file, statement, parent)
        return [Edit(module.file, statement, lambda node: cst.parse_statement("pass"))]
    raise NoFix("no call stands by itself at its places")


def _drop_xla(case: Case) -> list[Edit]:
    """Remove ``jit_compile=True`` at the first place with it, or the only one of its file."""
    for module, span in case.places():
        found = [call for call in module.calls if argument(call, "jit_compile") is not None]
        here = [call for call in found if module.spans(call, span.line)] or found
        if len(here) == 1:
            case.assumed.append("TensorFlow's own kernels are as fast as XLA's code once that is compiled")
            return [without_argument(module.file, here[0], "jit_compile")]
    raise NoFix("the one jit_compile that its place belongs to is not seen")


STATEMENT = Fixer("leaves the call out", _drop_statement)
XLA = Fixer("runs without XLA", _drop_xla, "results may differ by rounding", keeps="mathematics")
