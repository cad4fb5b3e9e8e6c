"""``drop_remainder=True`` on the batch whose last, smaller one is traced or compiled by itself."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, keyword
from tfperfkit.fixing.module import Module, dotted, method, walk

_BATCH = ("batch", "padded_batch")


def fix(case: Case) -> list[Edit]:
    """Of the one ``batch`` that feeds the loop, or the ``fit``, at one of the finding's places."""
    for module, span in case.places():
        fed = _fed(module, span.line)
        found = [call for call in fed if argument(call, "drop_remainder") is None and len(call.args) < 3]
        if len(found) == 1 and len(fed) == 1:
            return [keyword(module.file, found[0], "drop_remainder", cst.Name("True"))]
    raise NoFix("the batch() that makes the smaller batches is not to be seen from its place")


def _fed(module: Module, line: int) -> list[cst.Call]:
    for node in module.nodes:
        if isinstance(node, cst.For) and module.spans(node, line):
            found = _batches(module, node.iter)
            if found:
                return found
    for call in module.methods_at(line, "fit"):
        if call.args:
            return _batches(module, call.args[0].value)
    return module.methods_at(line, *_BATCH)


def _batches(module: Module, fed: cst.CSTNode) -> list[cst.Call]:
    """``batch`` in an expression, or in what its names were assigned."""
    found = [node for node in walk(fed) if isinstance(node, cst.Call) and method(node) in _BATCH]
    names = {node.value for node in walk(fed) if isinstance(node, cst.Name)}
    for node in module.nodes if not found else ():
        if isinstance(node, cst.Assign) and {dotted(item.target) for item in node.targets} & names:
            found += [item for item in walk(node.value) if isinstance(item, cst.Call) and method(item) in _BATCH]
    return found


FIXER = Fixer(
    "drops the last, smaller batch",
    fix,
    "the rest of the examples is left out in each pass: shuffle before batch, so that it is another rest each time",
    keeps="nothing",
)
