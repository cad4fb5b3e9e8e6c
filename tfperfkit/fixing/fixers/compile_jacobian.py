"""``@tf.function`` on the function that calls a tape's jacobian, which is traced in each call otherwise."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.compile_step import compiled


def fix(case: Case) -> list[Edit]:
    """The function around it that is no part of another."""
    for module, span in case.places():
        for call in module.methods_at(span.line, "jacobian", "batch_jacobian"):
            function = next((item for item in module.around(call) if isinstance(item, cst.FunctionDef)), None)
            if function is None:
                raise NoFix("the jacobian stands in no function: make one of it first")
            return compiled(module, function)
    raise NoFix("no jacobian stands at its places")


FIXER = Fixer(
    "compiles the function of the jacobian",
    fix,
    "Python in it runs once for each trace; give it tensors of the same shape",
    keeps="mathematics",
)
