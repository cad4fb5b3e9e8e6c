"""``batch`` before the ``map`` that it follows: the map's function gets whole batches, by itself if it works element by
element, else by ``tf.vectorized_map``."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.chain import STAGES, upstream
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.elementwise import not_elementwise
from tfperfkit.fixing.fixers.stage_order import check_names, rotate
from tfperfkit.fixing.module import Module, find_called_bodies, method, walk

#: Functions that ``tf.vectorized_map`` runs element by element, or whose results differ in shape by element. TensorFlow
#: has no vectorised form of their operations (``parallel_for/pfor.py``).
# fmt: off
_BY_ELEMENT = frozenset((
    "py_function", "numpy_function", "read_file", "decode_jpeg", "decode_png", "decode_image", "decode_gif", "split",
    "decode_wav", "decode_raw", "print", "unicode_split", "regex_replace", "lookup", "batch", "crop_and_resize",
))
# fmt: on
#: AutoGraph converts these in a mapped function, but not below ``tf.vectorized_map``.
_STATEMENTS = (
    cst.If,
    cst.IfExp,
    cst.While,
    cst.For,
    cst.BooleanOperation,
    cst.Assert,
    cst.Global,
    cst.Nonlocal,
    cst.Yield,
)  # fmt: skip


def _move_batch(case: Case) -> list[Edit]:
    """Swap both stages if the function is known to work element by element."""
    module, mapped, batch = _find_stages(case)
    reason = not_elementwise(module, mapped.args[0].value)
    if reason:
        raise NoFix(reason)
    return rotate(module, [batch, mapped])


def _vectorize(case: Case) -> list[Edit]:
    """Swap both stages, and let ``tf.vectorized_map`` apply the function to each element of a batch."""
    module, mapped, batch = _find_stages(case)
    function = mapped.args[0].value
    check_vectorized(module, function)
    vectorized = module.tree.code_for_node(module.spelled("tensorflow.vectorized_map", mapped))
    name = module.tree.code_for_node(function.with_changes(lpar=(), rpar=()))
    called = f"({name})" if isinstance(function, cst.Lambda) else name
    whole = cst.parse_expression(f"lambda *batch: {vectorized}(lambda each: {called}(*each), batch)")
    first, *others = mapped.args
    return rotate(module, [batch, mapped], {mapped: [first.with_changes(value=whole), *others]})


def check_vectorized(module: Module, function: cst.BaseExpression) -> None:
    """Raise NoFix if a function works on one element at a time, or needs AutoGraph."""
    for body in find_called_bodies(module, find_body(module, function)):
        for node in walk(body):
            if isinstance(node, cst.Call) and (method(node) or getattr(node.func, "value", "")) in _BY_ELEMENT:
                raise NoFix(f"{module.tree.code_for_node(node.func).strip()} works on one element at a time")
            if isinstance(node, _STATEMENTS):
                raise NoFix("the map's function has Python statements that TensorFlow would not convert")


def _find_stages(case: Case) -> tuple[Module, cst.Call, cst.Call]:
    """Find the map at one of the places, and the ``batch`` that directly follows it. Raises NoFix."""
    refused = NoFix("there is no map with batch() after it at its place")
    for module, span in case.places():
        for mapped in module.methods_at(span.line, *STAGES):
            for batch in module.calls:
                if method(batch) != "batch" or not isinstance(batch.func, cst.Attribute):
                    continue
                before = _find_upstream(module, batch)
                if not before or method(before[0]) != "map":
                    continue
                if before[0] is not mapped and mapped not in (batch, *before[1:]):
                    continue
                if not before[0].args or before[0].args[0].star or before[0].args[0].keyword:
                    refused = NoFix("the map's function is not seen")
                    continue
                if any(method(call) == "window" for call in before):
                    refused = NoFix("the elements are windows, which are datasets")
                    continue
                if any(method(call) == "from_generator" for call in before):
                    refused = NoFix("a generator's elements may differ in shape, and the map makes them alike")
                    continue
                check_names(module, [batch, before[0]])
                return module, before[0], batch
            if method(mapped) == "map":
                refused = NoFix("batch() does not directly follow the map")
    raise refused


def _find_upstream(module: Module, call: cst.Call) -> list[cst.Call]:
    """Return the stages before a call, the nearest first, as far as they are seen."""
    found = []
    try:
        for before in upstream(module, call):
            found.append(before)
    except NoFix:
        pass
    return found


def find_body(module: Module, function: cst.BaseExpression) -> cst.CSTNode:
    """Return the body of a mapped function: a lambda, or the one function of the file of this name. Raises NoFix."""
    if isinstance(function, cst.Lambda):
        return function.body
    name = function.attr.value if isinstance(function, cst.Attribute) else getattr(function, "value", "")
    found = [node for node in module.nodes if isinstance(node, cst.FunctionDef) and node.name.value == name]
    if len(found) != 1 or found[0].asynchronous is not None:
        raise NoFix("the map's function is not seen")
    return found[0].body


BATCH_FIRST = Fixer(
    "batches before the map",
    _move_batch,
    "the function then gets a batch, with one dimension more in front",
    keeps="mathematics",
)
VECTORIZED = Fixer(
    "batches before the map, and maps whole batches with tf.vectorized_map",
    _vectorize,
    "each element is computed as before; random numbers fall on other elements",
    keeps="mathematics",
)
