"""``np.save`` for ``np.savetxt``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix

_ENDS = (".txt", ".csv", ".dat", ".tsv")


def fix(case: Case) -> list[Edit]:
    """Calls with a name and an array alone: how the text is to look is nothing that bytes have."""
    for module, span in case.places():
        for call in module.calls:
            if module.line(call) != span.line or module.imported(call.func) != "numpy.savetxt":
                continue
            if len(call.args) != 2 or any(item.keyword or item.star for item in call.args):
                raise NoFix("np.savetxt is told how the text is to look")
            edits = [Edit(module.file, call.func, _becomes(module.spelled("numpy.save", call)))]
            end = _end(call.args[0].value)
            return [*edits, Edit(module.file, end, _renamed)] if end is not None else edits
    raise NoFix("no np.savetxt stands at its places")


def _becomes(other: cst.BaseExpression) -> Callable[[Any], Any]:
    return lambda node: other


def _end(node: cst.CSTNode) -> cst.CSTNode | None:
    """The literal that the file's name ends in."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Modulo)):
        return _end(node.right if isinstance(node.operator, cst.Add) else node.left)
    if isinstance(node, cst.FormattedString):
        return _end(node.parts[-1]) if node.parts else None
    return node if isinstance(node, (cst.SimpleString, cst.FormattedStringText)) else None


def _renamed(node: Any) -> Any:
    text: str = node.value
    quote = text[-1] if isinstance(node, cst.SimpleString) else ""
    for end in _ENDS:
        if text.endswith(end + quote):
            return node.with_changes(value=text[: -len(end + quote)] + ".npy" + quote)
    return node


FIXER = Fixer(
    "writes arrays as bytes",
    fix,
    "what reads the files needs np.load in place of np.loadtxt; nobody reads them by eye",
    keeps="mathematics",
)
