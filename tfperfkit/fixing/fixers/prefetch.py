"""``.prefetch(tf.data.AUTOTUNE)`` at the end of a pipeline."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.chain import MAKERS, STAGES, behind
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, method


def fix(case: Case) -> list[Edit]:
    """Of the first place with a stage: behind the last stage of its chain."""
    for module, span in case.places():
        ends = {id(end): end for call in module.methods_at(span.line, *STAGES, *MAKERS) for end in [_end(module, call)]}
        outer = [end for end in ends.values() if not any(item in module.around(end) for item in ends.values())]
        if len(outer) > 1:
            raise NoFix("several pipelines stand on its line")
        if outer and not _prefetches(outer[0]):
            return [
                Edit(module.file, outer[0], behind("prefetch", module.spelled("tensorflow.data.AUTOTUNE", outer[0])))
            ]
    raise NoFix("no stage without a prefetch stands at its place")


def _end(module: Module, call: cst.Call) -> cst.Call:
    """The last stage of the chain that a stage is in."""
    while True:
        above = list(module.around(call))[:2]
        if len(above) < 2 or not isinstance(above[0], cst.Attribute) or not isinstance(above[1], cst.Call):
            return call
        if above[1].func is not above[0] or above[0].attr.value not in STAGES:
            return call
        call = above[1]


def _prefetches(call: cst.Call) -> bool:
    return method(call) == "prefetch"


FIXER = Fixer("ends the pipeline with prefetch", fix, "batches held ready take memory; elements and their order stay")
