"""Find the Python in a function that has an effect only while TensorFlow traces the function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.nodes import find_own_nodes

#: Beginnings of the names of functions whose effect a graph does not have, as ``syntax.names`` gives them.
_EFFECTS = ("random.", "numpy.random.", "time.", "datetime.", "logging.", "absl.logging.", "loguru.")
_BUILTINS = {"builtins.print": "print", "builtins.open": "open()", "builtins.input": "input()"}
_MUTATORS = frozenset({"append", "extend", "insert", "appendleft"})


def find_side_effects(function: Function) -> Iterator[tuple[int, str]]:
    """Find (line, what is done) of each such statement, without those of functions inside it."""
    local = _list_local_names(function)
    for node in find_own_nodes(function.node, ast.stmt, ast.expr):
        if isinstance(node, ast.Global):
            what = f"global {', '.join(node.names)}"
        elif isinstance(node, ast.AugAssign):
            what = _name_changed_attribute(function, node)
        else:
            what = _name_effect(function.file.wrap(node), local) if isinstance(node, ast.Call) else ""
        if what and isinstance(node, (ast.stmt, ast.expr)):
            yield node.lineno, what


def _list_local_names(function: Function) -> set[str]:
    """List the names that the function binds itself; an object under any other name belongs to someone else."""
    declared = find_own_nodes(function.node, ast.Global, ast.Nonlocal)
    outer = {name for node in declared for name in getattr(node, "names", ())}
    stored = {node.id for node in find_own_nodes(function.node, ast.Name) if isinstance(node.ctx, ast.Store)}
    return (stored - outer) | {*function.parameters, *(item.arg for item in function.node.args.kwonlyargs)}


def _name_changed_attribute(function: Function, node: ast.AugAssign) -> str:
    target = function.file.wrap(node.target)
    is_own = target.kind == "attribute" and target.root.is_self
    return f"{target.dotted} is changed" if is_own else ""


def _name_effect(call: Call, local: set[str]) -> str:
    if call.name in _BUILTINS:
        return _BUILTINS[call.name]
    if call.name.startswith(_EFFECTS):
        return f"{call.function.dotted or call.name}()"
    # ``metric.update(...)`` and ``self.pool.add(...)`` may be TensorFlow's: only lists under plain names count.
    owner = call.receiver
    if call.method in _MUTATORS and owner is not None and owner.kind == "name" and owner.text not in local:
        return f"{call.function.dotted}()"
    return ""
