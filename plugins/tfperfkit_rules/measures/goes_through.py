"""Where the user's source goes through the whole of a container: by the syntax tree, for a name that is known."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import get_last_name, get_method, get_receiver

#: Calls and methods that take no longer for a longer container.
_QUICK = frozenset(("builtins.len", "builtins.id", "builtins.isinstance", "builtins.type", "builtins.bool"))
_ENDS = frozenset(
    ("append", "appendleft", "extend", "add", "pop", "popleft", "popitem", "update", "setdefault", "get", "discard")
)


def goes_through(syntax: Syntax, name: str) -> list[int]:
    """The lines that hand all of it to a call, call a method of it, loop over it or search it."""
    short = name.rpartition(".")[2]
    return sorted({line for node in syntax.find_nodes(ast.AST) for line in _list_lines(syntax, node, short)})


def _list_lines(syntax: Syntax, node: ast.AST, name: str) -> Iterator[int]:
    if isinstance(node, ast.Call):
        if _called_with(syntax, node, name):
            yield node.lineno
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        if _is_whole(node.iter, name):
            yield node.lineno
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        if any(_is_whole(item.iter, name) for item in node.generators):
            yield node.lineno
    elif isinstance(node, ast.Compare) and _searches(node, name):
        yield node.lineno


def _called_with(syntax: Syntax, call: ast.Call, name: str) -> bool:
    if get_method(call) in _ENDS:
        return False  # what is put into another container stays as it is
    given = [*call.args, *(word.value for word in call.keywords)]
    if any(_is_whole(item, name) for item in given):
        return syntax.name(call.func) not in _QUICK
    return get_last_name(get_receiver(call)) == name


def _searches(node: ast.Compare, name: str) -> bool:
    return isinstance(node.ops[0], (ast.In, ast.NotIn)) and get_last_name(node.comparators[0]) == name


def _is_whole(node: ast.AST, name: str) -> bool:
    """Whether an argument is it, or holds it: ``[kept, new]``; a part of it (``kept[-100:]``) is not."""
    if get_last_name(node) == name:
        return True
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(_is_whole(item, name) for item in node.elts)
    return isinstance(node, ast.Starred) and _is_whole(node.value, name)
