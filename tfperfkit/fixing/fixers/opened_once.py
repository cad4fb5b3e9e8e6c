"""A function that returns parts of a file: they are kept for each path by ``functools.cache``."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.hoist import check_unchanged, import_functools
from tfperfkit.fixing.fixers.keep_result import OPENERS
from tfperfkit.fixing.globals import explain_changing
from tfperfkit.fixing.module import Module, dotted, method, walk
from tfperfkit.fixing.order import explain_changed, writes_file
from tfperfkit.fixing.repeatable import check_repeatable, check_reusable


def keep_opened(case: Case) -> list[Edit]:
    """At the first place that is a ``with`` of an opened file which ends in ``return``, or a call in its function."""
    reason = NoFix("no file is opened and returned at its places")
    for module, span in case.places():
        for node in module.nodes:
            if isinstance(node, cst.With) and module.spans(node, span.line) and _find_open(module, node) is not None:
                try:
                    return _keep(module, node)
                except NoFix as error:
                    reason = error
    raise reason


def _find_open(module: Module, statement: cst.With) -> cst.Call | None:
    call = statement.items[0].item if len(statement.items) == 1 else None
    if not isinstance(call, cst.Call) or not call.args or call.args[0].keyword or call.args[0].star:
        return None
    name = module.imported(call.func) or (call.func.value if isinstance(call.func, cst.Name) else "")
    return call if name in OPENERS else None


def _keep(module: Module, statement: cst.With) -> list[Edit]:
    call = _find_open(module, statement)
    around = list(module.around(statement))
    function = next((node for node in around if isinstance(node, cst.FunctionDef)), None)
    home: Any = next((node for node in around if node in module.tree.body), None)
    if call is None or function is None or statement not in function.body.body or statement.asynchronous is not None:
        raise NoFix("the file is not opened directly in a function")
    body = list(statement.body.body)
    leaving = [node for node in walk(statement.body) if isinstance(node, (cst.Return, cst.Yield, cst.Await))]
    last = body[-1].body[-1] if isinstance(body[-1], cst.SimpleStatementLine) else None
    if not isinstance(last, cst.Return) or leaving != [last] or last.value is None:
        raise NoFix("what the file gives is not returned there")
    local = names.parameters(function) | names.binds([function.body])
    inner = names.binds([statement])
    outside = names.read(statement.body) | set().union(set(), *(names.read(item.value) for item in call.args[1:]))
    for name in sorted(outside - inner):
        why = f"it uses {name}, which is another one at each call" if name in local else explain_changing(module, name)
        if why:
            raise NoFix(why)
    check_repeatable(module, statement)
    check_reusable(module, last.value, statement)
    if isinstance(last.value, cst.Name) and last.value.value in names.binds(statement.items):
        raise NoFix("the open file itself is returned")
    why = explain_changed(module, statement, lambda node: writes_file(module, node), "files")
    if why:
        raise NoFix(why)
    _check_callers(module, function)
    helper = f"_{function.name.value.strip('_')}_once"
    if "path" in inner | outside or any(isinstance(node, cst.Name) and node.value == helper for node in module.nodes):
        raise NoFix(f"{helper} is a name of the file already")
    return _edits(module, statement, call, home, helper)


def _check_callers(module: Module, function: cst.FunctionDef) -> None:
    """Raise NoFix unless all calls are in the file, and none changes in place what it gets."""
    name = function.name.value
    calls = [call for call in module.calls if (method(call) or dotted(call.func)) == name]
    if not calls:
        raise NoFix(f"{name} is called from another file")
    for call in calls:
        around = list(module.around(call))
        scope = next((node for node in around if isinstance(node, cst.FunctionDef)), module.tree)
        statement = next(at for at in around if isinstance(at, (cst.SimpleStatementLine, cst.BaseCompoundStatement)))
        targets = [node.target for node in walk(statement) if isinstance(node, cst.AssignTarget)]
        if any(isinstance(target, (cst.Attribute, cst.Subscript)) for target in targets):
            raise NoFix("an object keeps the result, and may change it")
        if any(isinstance(node, (cst.Return, cst.Yield)) and node.children[-1:] == [call] for node in walk(statement)):
            raise NoFix("a caller returns the result, and who gets it may change it")
        check_unchanged(scope, names.binds([statement]))


def _edits(module: Module, statement: cst.With, call: cst.Call, home: Any, helper: str) -> list[Edit]:
    first = call.args[0]
    opened = statement.deep_replace(first, first.with_changes(value=cst.Name("path")))
    made = cst.FunctionDef(
        cst.Name(helper),
        cst.Parameters([cst.Param(cst.Name("path"))]),
        cst.IndentedBlock([opened.with_changes(leading_lines=())]),
        decorators=[cst.Decorator(cst.parse_expression("functools.cache"))],
        leading_lines=home.leading_lines,
    )
    apart = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    kept = cst.SimpleStatementLine([cst.Return(cst.Call(cst.Name(helper), [cst.Arg(first.value)]))])
    return [
        Edit(module.file, statement, lambda node: kept.with_changes(leading_lines=node.leading_lines)),
        Edit(module.file, home, lambda node: cst.FlattenSentinel([made, node.with_changes(leading_lines=apart)])),
        *import_functools(module),
    ]


FIXER = Fixer(
    "reads each file once",
    keep_opened,
    "all callers share what was read: what one changes in it stays changed; it stays in memory",
)
