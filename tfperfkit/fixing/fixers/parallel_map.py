"""``num_parallel_calls=tf.data.AUTOTUNE`` on the person's own map."""

from __future__ import annotations

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, keyword


def fix(case: Case) -> list[Edit]:
    """Of the first place with a ``map`` that works on one element at a time."""
    for module, span in case.places():
        for call in module.methods_at(span.line, "map"):
            positional = [item for item in call.args if item.keyword is None and item.star != "**"]
            if not call.args or len(positional) > 1 or argument(call, "num_parallel_calls") is not None:
                continue
            autotune = module.spelled("tensorflow.data.AUTOTUNE", call)
            return [keyword(module.file, call, "num_parallel_calls", autotune)]
    raise NoFix("no map without num_parallel_calls stands at its place")


FIXER = Fixer(
    "adds num_parallel_calls to the map",
    fix,
    "the order of elements stays; random numbers that the function draws fall on other elements",
)
