"""``tf.map_fn`` becomes ``tf.vectorized_map``, which applies the function to all elements at once."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.batch_first import check_vectorized, find_body
from tfperfkit.fixing.module import Module, find_called_bodies, walk

#: Arguments of ``map_fn`` that say how it runs, or what type comes out.
_DROPPED = frozenset({"dtype", "fn_output_signature", "parallel_iterations", "back_prop", "swap_memory", "infer_shape"})
#: Functions whose results have a shape by element, which whole tensors can't have.
_BY_SHAPE = frozenset({"repeat", "range", "zeros", "ones", "fill", "boolean_mask", "unique", "slice", "tile", "map_fn"})


def fix(case: Case) -> list[Edit]:
    """At the first place with a ``map_fn`` of a function of the file."""
    for module, span in case.places():
        for call in module.calls:
            if module.imported(call.func) != "tensorflow.map_fn" or not module.spans(call, span.line):
                continue
            kept = [item for item in call.args if item.keyword is None or item.keyword.value not in _DROPPED]
            if len(kept) != 2 or kept[0].keyword is not None or any(item.star for item in call.args):
                raise NoFix("map_fn gets more than a function and its elements")
            with case.assuming("the function's operations have a form for all elements at once"):
                check_vectorized(module, kept[0].value)
                _check_shapes(module, kept[0].value)
            return [_replace(module, call, kept)]
    raise NoFix("there is no map_fn at its places")


def _replace(module: Module, call: cst.Call, kept: Sequence[cst.Arg]) -> Edit:
    end = call.args[-1]
    last = kept[1].with_changes(comma=end.comma, whitespace_after_arg=end.whitespace_after_arg)
    name = module.spelled("tensorflow.vectorized_map", call)
    return Edit(module.file, call, lambda node: node.with_changes(func=name, args=[kept[0], last]))


def _check_shapes(module: Module, function: cst.BaseExpression) -> None:
    for body in find_called_bodies(module, find_body(module, function)):
        for node in walk(body):
            name = (module.imported(node.func) or "").rpartition(".")[2] if isinstance(node, cst.Call) else ""
            if name in _BY_SHAPE:
                raise NoFix(f"tf.{name} may give each element another shape")


FIXER = Fixer(
    "maps all elements at once with tf.vectorized_map",
    fix,
    "all results are in memory at once; random numbers fall on other elements",
    keeps="mathematics",
)
