"""``batch`` before ``map``, where the function gives the same on a batch as on its examples one by one."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.elementwise import not_elementwise
from tfperfkit.fixing.module import method


def fix(case: Case) -> list[Edit]:
    """Where ``batch`` follows the ``map`` directly, and the function is seen to work element by element."""
    for module, span in case.places():
        for call in module.methods_at(span.line, "map"):
            above = list(module.around(call))[:2]
            batch = above[1] if len(above) == 2 else None
            if not isinstance(batch, cst.Call) or batch.func is not above[0] or method(batch) != "batch":
                raise NoFix("batch() does not directly follow the map")
            if not call.args:
                raise NoFix("the map's function is not seen")
            reason = not_elementwise(module, call.args[0].value)
            if reason:
                raise NoFix(reason)
            return [Edit(module.file, batch, _swapped)]
    raise NoFix("no map with batch() behind it stands at its place")


def _swapped(batch: cst.Call) -> cst.Call:
    """Each stage takes its own line with it."""
    if method(batch) != "batch" or not isinstance(batch.func, cst.Attribute):
        return batch
    mapped = batch.func.value
    if not isinstance(mapped, cst.Call) or not isinstance(mapped.func, cst.Attribute):
        return batch
    inner = batch.with_changes(func=batch.func.with_changes(value=mapped.func.value), lpar=(), rpar=())
    return mapped.with_changes(func=mapped.func.with_changes(value=inner), lpar=batch.lpar, rpar=batch.rpar)


FIXER = Fixer(
    "batches before the map",
    fix,
    "the function then gets a batch, with one dimension more in front",
    keeps="mathematics",
)
