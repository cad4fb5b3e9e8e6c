"""A call in the middle of a statement that gives the same in each iteration, made before the loop.

A candidate: that no iteration changes what the call reads is known by its names only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.kept_expression import shorten
from tfperfkit.fixing.module import Module, dotted, method, walk
from tfperfkit.fixing.order import find_effect_of
from tfperfkit.fixing.repeatable import check_repeatable, check_reusable

_SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda)
_INNER = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def move_expression(case: Case) -> list[Edit]:
    """At the first place with a call, in a loop, that reads no name which the loop binds."""
    reason = NoFix("no call in a loop at its places reads only names from before the loop")
    for module, span in case.places():
        for statement in module.lines_at(span.line):
            for call in (node for node in walk(statement) if isinstance(node, cst.Call)):
                try:
                    edits = _move(module, call)
                except NoFix as error:
                    reason = error
                    continue
                case.assumed.append(f"{shorten(module, call)} gives the same in each iteration")
                return edits
    raise reason


def _move(module: Module, call: cst.Call) -> list[Edit]:
    read = names.read(call)
    loop: Any = None
    for node in _same_function(module, call):
        if isinstance(node, _INNER):
            raise NoFix("it is in a comprehension")
        if isinstance(node, (cst.For, cst.While)):
            if isinstance(node, cst.For) and any(at is call for at in walk(node.iter)):
                continue
            if (names.binds([node.body]) | names.gives(node)) & read:
                break
            loop = node
    if loop is None or not isinstance(next(module.around(loop)), (cst.IndentedBlock, cst.Module)):
        raise NoFix("it uses names that the loop changes, or is in no loop")
    if find_effect_of(module, call):
        raise NoFix("it changes or writes something")
    if not call.args and isinstance(call.func, cst.Attribute) and method(call) == "numpy":
        raise NoFix("it only reads a value")
    check_repeatable(module, call)
    check_reusable(module, call, loop)
    word = (method(call) or dotted(call.func) or "value").strip("_").lower()
    taken = {node.value for node in module.nodes if isinstance(node, cst.Name)}
    name = next((each for each in (f"{word}_once", f"{word}_kept") if each not in taken), "")
    if not name:
        raise NoFix(f"{word}_once is a name of the file already")
    made = cst.SimpleStatementLine(
        [cst.Assign([cst.AssignTarget(cst.Name(name))], call.with_changes(lpar=(), rpar=()))]
    )

    def put_before(node: Any) -> cst.FlattenSentinel:
        first = made.with_changes(leading_lines=node.leading_lines)
        return cst.FlattenSentinel([first, node.with_changes(leading_lines=())])

    return [Edit(module.file, call, lambda node: cst.Name(name)), Edit(module.file, loop, put_before)]


def _same_function(module: Module, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for at in module.around(node):
        if isinstance(at, _SCOPES):
            return
        yield at


FIXER = Fixer("calls it once, before the loop", move_expression, "all iterations share one result", keeps="mathematics")
