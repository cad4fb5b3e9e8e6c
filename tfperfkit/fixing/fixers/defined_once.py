"""A function that a loop, or another function, defines and compiles again and again is defined once, before it."""

from __future__ import annotations

from functools import partial
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.globals import explain_changing, find_bindings, find_changed, is_declared_global
from tfperfkit.fixing.module import Module, walk

_SCOPES = (cst.For, cst.While, cst.FunctionDef)


def fix(case: Case) -> list[Edit]:
    """At the first place that is a decorated function in a loop or a function, or a line that only makes a
    ``tf.function``. It moves out of all scopes that bind nothing that it uses."""
    for module, span in case.places():
        made = module.function_at(span.line, span.function) or _find_line(module, span.line)
        if made is None:
            continue
        above = [node for node in module.around(made) if not isinstance(node, cst.IndentedBlock)]
        scope = None
        used = _find_free_names(module, made)
        for node in above:
            if not isinstance(node, _SCOPES):
                break
            bound = names.bound(node, made) | names.parameters(node)
            if bound & used or find_changed(node, used - _find_imported(module, used)):
                break
            scope = node
        if scope is None:
            if above and isinstance(above[0], _SCOPES):
                raise NoFix("it uses what the loop or the function around it binds")
            continue
        if not _is_compiled(module, made):
            raise NoFix("it is not compiled where it is defined")
        for name in _bind_names(made):
            if names.bindings(module.tree, name) > 1:
                raise NoFix(f"{name} gets several values")
        _check_place(module, made, scope, used)
        return _move(module, made, scope)
    raise NoFix("there is no tf.function in a loop or a function at its places")


def _find_imported(module: Module, used: set[str]) -> set[str]:
    """Return the names that imports bind: ``tf.random.shuffle(x)`` does not change ``tf``."""
    return {node.value for node in module.nodes if isinstance(node, cst.Name) and node.value in used
            and module.imported(node) is not None}  # fmt: skip


def _check_place(module: Module, made: Any, scope: cst.CSTNode, used: set[str]) -> None:
    """Raise NoFix if the names that a compiled function reads may hold other values when it is called again, or have
    none yet where it is defined."""
    if any(isinstance(node, (cst.Nonlocal, cst.Global)) for node in walk(made)):
        raise NoFix("it sets names outside of it")
    order = {node: number for number, node in enumerate(module.nodes)}
    is_function = isinstance(made, cst.FunctionDef)
    early = [*made.decorators, made.params] if is_function else [made]
    needed = set().union(set(), *(names.read(part) for part in early))
    for name in sorted(used):
        found = find_bindings(module, name)
        if name in needed and found and order[found[0]] > order[scope]:
            raise NoFix(f"{name} is defined after the place before which it is needed")
        why = explain_changing(module, name) if found and isinstance(scope, cst.FunctionDef) else ""
        if why or (found and is_declared_global(module, name)):
            raise NoFix(why or f"{name} gets several values")


def _find_line(module: Module, line: int) -> cst.SimpleStatementLine | None:
    """Find ``name = tf.function(other)`` on a line."""
    for node in module.lines_at(line):
        only = node.body[0] if len(node.body) == 1 else None
        if isinstance(only, cst.Assign) and len(only.targets) == 1 and isinstance(only.targets[0].target, cst.Name):
            return node
    return None


def _bind_names(made: cst.CSTNode) -> set[str]:
    """Return the names that it binds for what is around it."""
    if isinstance(made, cst.FunctionDef):
        return {made.name.value}
    return names.binds([made])


def _find_free_names(module: Module, made: Any) -> set[str]:
    """Return the names from outside that it reads, also in the functions of the file that it names or calls."""
    functions = {node.name.value: node for node in module.nodes if isinstance(node, cst.FunctionDef)}
    pending, seen, free = [made], {made}, set()
    while pending:
        at = pending.pop()
        own = names.parameters(at) | (names.binds([at.body]) if isinstance(at, cst.FunctionDef) else set())
        parts = [at.body, *at.decorators] if isinstance(at, cst.FunctionDef) else [at]
        read = set().union(*(names.read(part) for part in parts)) - own
        free |= read
        for name in read & set(functions):
            if functions[name] not in seen:
                seen.add(functions[name])
                pending.append(functions[name])
    return free - _bind_names(made)


def _is_compiled(module: Module, made: cst.CSTNode) -> bool:
    if isinstance(made, cst.FunctionDef):
        parts = [item.decorator for item in made.decorators]
    else:
        parts = [node.value for node in walk(made) if isinstance(node, cst.Assign)]
    bare = [item.func if isinstance(item, cst.Call) else item for item in parts]
    return any(module.imported(item) == "tensorflow.function" for item in bare)


def _move(module: Module, made: Any, scope: Any) -> list[Edit]:
    block = next(iter(module.around(made)))
    alone = len(block.body) == 1
    gone = cst.parse_statement("pass")
    apart = [cst.EmptyLine(indent=False)] * (2 if isinstance(made, cst.FunctionDef) else 0)
    return [
        Edit(module.file, made, lambda node: gone if alone else cst.RemoveFromParent()),
        Edit(module.file, scope, partial(_put_before, made=made, apart=apart)),
    ]


def _put_before(scope: Any, made: Any, apart: list[cst.EmptyLine]) -> cst.FlattenSentinel:
    """Return both; the comments of the scope stay above it."""
    comments = [line for line in made.leading_lines if line.comment is not None]
    if not apart:
        return cst.FlattenSentinel([
            made.with_changes(leading_lines=[*scope.leading_lines, *comments]), scope.with_changes(leading_lines=())
        ])  # fmt: skip
    own = [line for line in scope.leading_lines if line.comment is not None]
    return cst.FlattenSentinel(
        [made.with_changes(leading_lines=[*apart, *comments]), scope.with_changes(leading_lines=[*apart, *own])]
    )


FIXER = Fixer(
    "makes the compiled function once", fix, "Python code in it runs once for each trace, not for each definition"
)
