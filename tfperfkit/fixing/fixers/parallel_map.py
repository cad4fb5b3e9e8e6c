"""``num_parallel_calls=tf.data.AUTOTUNE`` on the person's own map."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, keyword
from tfperfkit.fixing.module import Module


def fix(case: Case) -> list[Edit]:
    """Of the first place with a ``map`` that works on one element at a time; and of the maps of functions that the
    finding names beside it, which TensorFlow runs as one with it."""
    named = {span.function for span in case.finding.where}
    found: list[tuple[Module, cst.Call]] = []
    for module, span in case.places():
        for call in _one_by_one(module, span.line):
            if call not in (known for _, known in found) and (not found or _function(call) in named):
                found.append((module, call))
    if not found:
        raise NoFix("no map without num_parallel_calls stands at its place")
    return [
        keyword(module.file, call, "num_parallel_calls", module.spelled("tensorflow.data.AUTOTUNE", call))
        for module, call in found
    ]


def _one_by_one(module: Module, line: int) -> Iterator[cst.Call]:
    for call in module.methods_at(line, "map"):
        positional = [item for item in call.args if item.keyword is None and item.star != "**"]
        if call.args and len(positional) <= 1 and argument(call, "num_parallel_calls") is None:
            yield call


def _function(call: cst.Call) -> str:
    """The name of what is mapped; "" of an expression."""
    return call.args[0].value.value if isinstance(call.args[0].value, cst.Name) else ""


FIXER = Fixer(
    "adds num_parallel_calls to the map",
    fix,
    "the order of elements stays; random numbers that the function draws fall on other elements",
)
