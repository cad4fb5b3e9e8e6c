"""Operations of TensorFlow for which another one computes only the part that is used: the blocks of a jacobian, a crop
of an image, a tridiagonal system. Candidates: the graph proves the cause, but the source is only known by its forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument
from tfperfkit.fixing.module import Module, walk

_BLOCKS = re.compile(r"""["'](\w)(\w)\1(\w)->\1\2\3["']|["'](\w)(\w)\4->\4\5["']""")
_DECODERS = frozenset({"tensorflow.image.decode_jpeg", "tensorflow.io.decode_jpeg"})
_SUPPORTED = frozenset({"channels", "ratio", "fancy_upscaling", "try_recover_truncated", "dct_method"})


def _take_blocks(case: Case) -> list[Edit]:
    """Replace ``jacobian`` whose only use is an einsum of its diagonal blocks by ``batch_jacobian``."""
    for module, span in case.places():
        for call in module.methods_at(span.line, "jacobian"):
            name, use = _find_only_use(module, call)
            above = next(node for node in module.around(use) if isinstance(node, cst.Call))
            text = above.args[0].value if above.args else None
            einsum = module.imported(above.func) in ("tensorflow.einsum", "tensorflow.linalg.einsum")
            if not einsum or not isinstance(text, cst.SimpleString) or not _BLOCKS.fullmatch(text.value):
                raise NoFix(f"{name} is used by something else than an einsum of its blocks")
            case.assumed.append("each row of the result depends on its own row of the input alone")
            return [Edit(module.file, call, _by_batch), Edit(module.file, above, lambda node: node.args[1].value)]
    raise NoFix("there is no jacobian with a name of its own at its places")


def _by_batch(node: Any) -> Any:
    return node.with_changes(func=node.func.with_changes(attr=cst.Name("batch_jacobian")))


def _decode_crop(case: Case) -> list[Edit]:
    """Replace the decoding of an image whose only use is ``crop_to_bounding_box`` by that of the crop."""
    for module, span in case.places():
        for call in module.calls:
            if module.imported(call.func) not in _DECODERS or not module.spans(call, span.line):
                continue
            name, use = _find_only_use(module, call)
            crop = next(node for node in module.around(use) if isinstance(node, cst.Call))
            if module.imported(crop.func) != "tensorflow.image.crop_to_bounding_box" or len(crop.args) != 5:
                raise NoFix(f"{name} is used by something else than crop_to_bounding_box")
            others = [item for item in call.args[1:] if item.keyword is not None and item.keyword.value in _SUPPORTED]
            if len(others) != len(call.args) - 1 or any(item.keyword for item in crop.args):
                raise NoFix("the image is decoded or cut with other arguments")
            case.assumed.append("the decoded crop has the values of the image cut afterwards, up to rounding")
            return _move_decoding(module, call, crop, others)
    raise NoFix("there is no decode_jpeg with a name of its own at its places")


def _move_decoding(module: Module, call: cst.Call, crop: cst.Call, others: Sequence[cst.Arg]) -> list[Edit]:
    window = cst.List([cst.Element(item.value) for item in crop.args[1:]])
    plain = [item.with_changes(comma=cst.MaybeSentinel.DEFAULT) for item in others]
    whole = cst.Call(
        module.spelled("tensorflow.image.decode_and_crop_jpeg", crop),
        [cst.Arg(call.args[0].value), cst.Arg(window), *plain],
    )
    line = next(node for node in module.around(call) if isinstance(node, cst.SimpleStatementLine))
    return [
        Edit(module.file, line, lambda node: cst.RemoveFromParent()),
        Edit(module.file, crop, lambda node: whole.with_changes(lpar=node.lpar, rpar=node.rpar)),
    ]


def _find_only_use(module: Module, call: cst.Call) -> tuple[str, cst.Name]:
    """Return the name that a call's result gets in a statement of its own, and the one place that reads it. Raises
    NoFix."""
    only = next(module.around(call))
    scope = next((node for node in module.around(call) if isinstance(node, cst.FunctionDef)), module.tree)
    target = only.targets[0].target if isinstance(only, cst.Assign) and len(only.targets) == 1 else None
    if not isinstance(target, cst.Name):
        raise NoFix("its result has no name of its own")
    attributes = {node.attr for node in walk(scope) if isinstance(node, cst.Attribute)}
    found = [
        node
        for node in walk(scope)
        if isinstance(node, cst.Name) and node.value == target.value and node not in attributes
    ]
    uses = [node for node in found if node is not target]
    if len(uses) != 1:
        raise NoFix(f"{target.value} is used in several places")
    return target.value, uses[0]


def _solve_tridiagonal(case: Case) -> list[Edit]:
    """Replace the solution with a sum of three diagonals by ``tridiagonal_solve``."""
    for module, span in case.places():
        for call in module.calls:
            if module.imported(call.func) != "tensorflow.linalg.solve" or not module.spans(call, span.line):
                continue
            matrix = call.args[0].value
            if len(call.args) != 2 or any(item.keyword for item in call.args):
                raise NoFix("the system is solved with other arguments")
            edits: list[Edit] = []
            if isinstance(matrix, cst.Name):
                line, matrix = _find_value(module, call, matrix)
                edits = [Edit(module.file, line, lambda node: cst.RemoveFromParent())]
            diagonals = dict(_find_diagonals(module, matrix))
            if set(diagonals) != {-1, 0, 1}:
                raise NoFix("the matrix is not seen to be a sum of three diagonals")
            case.assumed.append("the system is well conditioned without exchanging rows of other places")
            solution = _make_solution(module, call, diagonals)
            return [*edits, Edit(module.file, call, partial(_replace_by, solution))]
    raise NoFix("there is no tf.linalg.solve at its places")


def _find_value(module: Module, call: cst.Call, name: cst.Name) -> tuple[Any, cst.BaseExpression]:
    """Return the statement that gives a name its only value, which nothing but the call reads, and that value."""
    scope = next((node for node in module.around(call) if isinstance(node, cst.FunctionDef)), module.tree)
    for line in walk(scope):
        only = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
        if isinstance(only, cst.Assign) and isinstance(only.value, (cst.BinaryOperation, cst.Call)):
            target = only.targets[0].target
            if isinstance(target, cst.Name) and target.value == name.value:
                if sum(isinstance(node, cst.Name) and node.value == name.value for node in walk(scope)) != 2:
                    raise NoFix(f"{name.value} is used in several places")
                return line, only.value
    raise NoFix("how the matrix is made is not seen")


def _find_diagonals(module: Module, value: cst.BaseExpression) -> Iterator[tuple[int, cst.BaseExpression]]:
    """Yield the number and the values of each diagonal that a sum consists of."""
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add):
        yield from _find_diagonals(module, value.left)
        yield from _find_diagonals(module, value.right)
        return
    if not isinstance(value, cst.Call) or module.imported(value.func) != "tensorflow.linalg.diag" or not value.args:
        raise NoFix("the matrix is not seen to be a sum of diagonals")
    number = argument(value, "k") or (value.args[1] if len(value.args) > 1 and not value.args[1].keyword else None)
    text = module.tree.code_for_node(number.value) if number is not None else "0"
    if text not in ("-1", "0", "1"):
        raise NoFix("the matrix has other diagonals")
    yield int(text), value.args[0].value


def _replace_by(new: cst.BaseExpression, node: cst.CSTNode) -> cst.BaseExpression:
    return new


def _make_solution(module: Module, call: cst.Call, diagonals: dict[int, cst.BaseExpression]) -> cst.BaseExpression:
    code = module.tree.code_for_node
    pad, solve = (code(module.spelled(f"tensorflow.{name}", call)) for name in ("pad", "linalg.tridiagonal_solve"))
    upper, middle, lower = (code(diagonals[number]) for number in (1, 0, -1))
    given = f"({pad}({upper}, [[0, 1]]), {middle}, {pad}({lower}, [[1, 0]]))"
    text = f'{solve}({given}, {code(call.args[1].value)}, diagonals_format="sequence")'
    made = cst.parse_expression(text)
    return made.with_changes(lpar=call.lpar, rpar=call.rpar)


_NOTE = "results may differ by rounding"
BLOCKS = Fixer("computes the diagonal blocks alone", _take_blocks, _NOTE, keeps="mathematics")
CROP = Fixer("decodes the crop alone", _decode_crop, _NOTE, keeps="mathematics")
TRIDIAGONAL = Fixer("solves the tridiagonal system as such", _solve_tridiagonal, _NOTE, keeps="mathematics")
