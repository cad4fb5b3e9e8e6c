"""A model that is loaded again and again, loaded once for each path by a function with ``functools.cache``."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.hoist import check_unchanged, import_functools
from tfperfkit.fixing.globals import explain_changing
from tfperfkit.fixing.module import Module, dotted, method, walk
from tfperfkit.fixing.order import changes_model, explain_changed, writes_file

#: Functions that load a model from the path that is their first argument.
_LOADERS = ("tensorflow.keras.models.load_model", "keras.models.load_model", "keras.saving.load_model",
            "tensorflow.keras.saving.load_model", "tensorflow.saved_model.load", "tensorflow_hub.load")  # fmt: skip
_PATHS = frozenset({"filepath", "export_dir"})
_CLEARING = frozenset({"clear_session", "reset_states", "reset_state"})
_NAME = "_load_model_once"


def load_once(case: Case) -> list[Edit]:
    """At the first place that loads a model in a loop or in a function."""
    reason = NoFix("no call at its places loads a model from a path")
    for module, span in case.places():
        for call in module.calls:
            if module.imported(call.func) in _LOADERS and module.spans(call, span.line):
                try:
                    return _keep(module, call)
                except NoFix as error:
                    reason = error
    raise reason


def _keep(module: Module, call: cst.Call) -> list[Edit]:
    path, others = _split_arguments(module, call)
    for node in module.calls:
        if (method(node) or dotted(node.func)) in _CLEARING:
            raise NoFix(f"line {module.line(node)} clears the state of models")
    for is_change, what in ((lambda node: writes_file(module, node), "files"), (changes_model, "a model")):
        why = explain_changed(module, call, is_change, what)
        if why:
            raise NoFix(why)
    around = list(module.around(call))
    scope = next((node for node in around if isinstance(node, cst.FunctionDef)), module.tree)
    statement = next(node for node in around if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)))
    check_unchanged(scope, names.binds([statement]))
    if any(isinstance(node, cst.Name) and node.value == _NAME for node in module.nodes):
        raise NoFix(f"{_NAME} is a name of the file already")
    home: Any = next(node for node in (call, *around) if node in module.tree.body)
    loads = call.with_changes(args=[cst.Arg(cst.Name("path")), *others], lpar=(), rpar=())
    lines = home.leading_lines
    helper = cst.FunctionDef(
        cst.Name(_NAME),
        cst.Parameters([cst.Param(cst.Name("path"))]),
        cst.IndentedBlock([cst.SimpleStatementLine([cst.Return(loads)])]),
        decorators=[cst.Decorator(cst.parse_expression("functools.cache"))],
        leading_lines=lines,
    )
    apart = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    return [
        Edit(module.file, call, lambda node: node.with_changes(func=cst.Name(_NAME), args=[cst.Arg(path)])),
        Edit(module.file, home, lambda node: cst.FlattenSentinel([helper, node.with_changes(leading_lines=apart)])),
        *import_functools(module),
    ]


def _split_arguments(module: Module, call: cst.Call) -> tuple[cst.BaseExpression, list[cst.Arg]]:
    """Return the path, and the other arguments, which are the same in each call."""
    if not call.args or call.args[0].star or (call.args[0].keyword and call.args[0].keyword.value not in _PATHS):
        raise NoFix("the path is not the first argument")
    others = list(call.args[1:])
    home = next((node for node in module.around(call) if isinstance(node, cst.FunctionDef)), None)
    local = names.parameters(home) | names.binds([home.body]) if home is not None else set()
    for item in others:
        read = names.read(item.value) - {"True", "False", "None"}
        changing = next((name for name in sorted(read) if name in local or explain_changing(module, name)), "")
        calls = any(isinstance(node, (cst.Call, cst.Lambda)) for node in walk(item.value))
        if item.star or changing or calls:
            raise NoFix("an argument next to the path may be another one in each call")
    if others:
        others[-1] = others[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return call.args[0].value, others


FIXER = Fixer(
    "loads the model of each path once",
    load_once,
    "all callers share one model: what one changes in it stays changed; each model stays in memory",
)
