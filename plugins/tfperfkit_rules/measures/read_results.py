"""Which results of a function the person's source reads, where its calls tell."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.source_calls import files
from tfperfkit_rules.measures.step_shares import span

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPILES = "tensorflow.function"
Parents = dict[ast.AST, ast.AST]


class Reads(NamedTuple):
    """The numbers of the results that are read, and where the calls are."""

    results: frozenset[int]
    calls: tuple[SourceSpan, ...]


def of_function(evidence: Evidence, name: str, count: int) -> Reads | None:
    """Of ``count`` results of the function of this name what its callers read. None where they don't tell: one hands
    the results on as a whole, or the function itself."""
    keys = list(_returned(evidence, name))
    if not keys or any(each is None or len(each) != count for each in keys) or len(set(map(str, keys))) > 1:
        return None
    return _together(evidence, name, lambda node: _last(node) == name, keys[0])


def of_method(evidence: Evidence, names: Iterable[str], count: int) -> Reads | None:
    """The same of a method of any object; its results are a list."""
    wanted = set(names)
    return _together(
        evidence, "", lambda node: isinstance(node, ast.Attribute) and node.attr in wanted, list(range(count))
    )


def _together(
    evidence: Evidence, name: str, is_it: Callable[[ast.AST], bool], keys: list[object] | None
) -> Reads | None:
    read: set[int] = set()
    places: list[SourceSpan] = []
    for file, syntax in files(evidence):
        parents = {below: node for node in ast.walk(syntax.tree) for below in ast.iter_child_nodes(node)}
        aliases = {each for each in _aliases(syntax, name) if each != name} if name else set()
        for node in ast.walk(syntax.tree):
            if not (is_it(node) or (isinstance(node, ast.Name) and node.id in aliases)):
                continue
            if not isinstance(getattr(node, "ctx", None), ast.Load):
                continue
            call = parents.get(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                if name and not _is_compiled(syntax, call):
                    return None
                continue
            found = _read_of(syntax, call, parents, keys or [])
            if found is None:
                return None
            read |= found
            places.append(span(evidence, file, call.lineno))
    return Reads(frozenset(read), tuple(places)) if places else None


def _last(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _aliases(syntax: Syntax, name: str) -> Iterator[str]:
    """``train`` of ``train = tf.function(step)``."""
    for node in ast.walk(syntax.tree):
        made = node.value if isinstance(node, ast.Assign) else None
        if isinstance(made, ast.Call) and _is_compiled(syntax, made) and made.args and _last(made.args[0]) == name:
            yield from (target.id for target in getattr(node, "targets", ()) if isinstance(target, ast.Name))


def _is_compiled(syntax: Syntax, node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and syntax.name(node.func) == _COMPILES


def _returned(evidence: Evidence, name: str) -> Iterator[list[object] | None]:
    """What each ``return`` of the function gives, by the keys that its results are read with, in TensorFlow's order of
    them: that of a tuple, or of a dictionary's sorted keys. None for anything else."""
    for _, syntax in files(evidence):
        for node in ast.walk(syntax.tree):
            if isinstance(node, _FUNCTIONS) and node.name == name:
                yield from (_keys(back.value) for back in _returns(node))


def _returns(function: ast.AST) -> Iterator[ast.Return]:
    for node in ast.iter_child_nodes(function):
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield from _returns(node)


def _keys(value: ast.expr | None) -> list[object] | None:
    if isinstance(value, (ast.Tuple, ast.List)) and not any(isinstance(each, ast.Starred) for each in value.elts):
        return list(range(len(value.elts)))
    if isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys):
        return [
            *sorted(key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
        ]
    return None


def _read_of(syntax: Syntax, node: ast.AST, parents: Parents, keys: list[object]) -> set[int] | None:
    """The results that are read of what an expression holds; None where all may be."""
    above = parents.get(node)
    if isinstance(above, ast.Expr):
        return set()
    if isinstance(above, ast.Subscript) and above.value is node:
        key = above.slice
        if isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub) and isinstance(key.operand, ast.Constant):
            at = key.operand.value
            return {len(keys) - at} if isinstance(at, int) and 0 < at <= len(keys) else None
        return {keys.index(key.value)} if isinstance(key, ast.Constant) and key.value in keys else None
    if not isinstance(above, ast.Assign) or len(above.targets) != 1:
        return None
    target = above.targets[0]
    if isinstance(target, ast.Tuple) and len(target.elts) == len(keys) and keys[:1] == [0]:
        return _named(syntax, target.elts)
    return _of_name(syntax, target, parents, keys) if isinstance(target, ast.Name) else None


def _named(syntax: Syntax, targets: list[ast.expr]) -> set[int]:
    """The numbers of the names that are read anywhere in the file, also where they hold something else."""
    loaded = {
        node.id for node in ast.walk(syntax.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return {n for n, each in enumerate(targets) if not isinstance(each, ast.Name) or each.id in loaded}


def _of_name(syntax: Syntax, target: ast.Name, parents: Parents, keys: list[object]) -> set[int] | None:
    """Of a name that holds all results what is read by number or key; None where another value has the name too."""
    read: set[int] = set()
    for node in ast.walk(syntax.tree):
        if not isinstance(node, ast.Name) or node.id != target.id or node is target:
            continue
        if not isinstance(node.ctx, ast.Load) or isinstance(parents.get(node), ast.Assign):
            return None
        found = _read_of(syntax, node, parents, keys)
        if found is None:
            return None
        read |= found
    return read
