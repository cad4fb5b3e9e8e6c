"""Find which results of a function the user's source reads, if all its calls show that."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import get_last_name, list_read_names
from tfperfkit_rules.measures.source_calls import files
from tfperfkit_rules.measures.step_shares import span

_COMPILES = "tensorflow.function"


class Reads(NamedTuple):
    """The positions of the results that are read, and where the calls are."""

    results: frozenset[int]
    calls: tuple[SourceSpan, ...]


def of_function(evidence: Evidence, name: str, count: int) -> Reads | None:
    """Find which of the ``count`` results of the function of this name its callers read.

    None if that is unknown: a caller passes on the results as a whole, or the function itself.
    """
    keys = list(_find_result_keys(evidence, name))
    if not keys or any(each is None or len(each) != count for each in keys) or len(set(map(str, keys))) > 1:
        return None
    return _find_reads(evidence, name, lambda node: get_last_name(node) == name, keys[0])


def of_method(evidence: Evidence, names: Iterable[str], count: int) -> Reads | None:
    """Find the same for a method of any object, whose results are a list."""
    wanted = set(names)
    return _find_reads(
        evidence, "", lambda node: isinstance(node, ast.Attribute) and node.attr in wanted, list(range(count))
    )


def _find_reads(
    evidence: Evidence, name: str, is_it: Callable[[ast.AST], bool], keys: list[object] | None
) -> Reads | None:
    read: set[int] = set()
    places: list[SourceSpan] = []
    for file, syntax in files(evidence):
        aliases = {each for each in _find_aliases(syntax, name) if each != name} if name else set()
        for node in syntax.find_nodes(ast.Name, ast.Attribute):
            if not (is_it(node) or (isinstance(node, ast.Name) and node.id in aliases)):
                continue
            if not isinstance(getattr(node, "ctx", None), ast.Load):
                continue
            call = syntax.parents.get(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                if name and not _is_compiled(syntax, call):
                    return None
                continue
            found = _find_read_keys(syntax, call, keys or [])
            if found is None:
                return None
            read |= found
            places.append(span(evidence, file, call.lineno))
    return Reads(frozenset(read), tuple(places)) if places else None


def _find_aliases(syntax: Syntax, name: str) -> Iterator[str]:
    """``train`` of ``train = tf.function(step)``."""
    for node in syntax.find_nodes(ast.Assign):
        made = node.value
        if isinstance(made, ast.Call) and _is_compiled(syntax, made) and name in map(get_last_name, made.args[:1]):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _is_compiled(syntax: Syntax, node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and syntax.name(node.func) == _COMPILES


def _find_result_keys(evidence: Evidence, name: str) -> Iterator[list[object] | None]:
    """The keys by which the results of each ``return`` are read, in TensorFlow's order: positions in a tuple, or the
    sorted keys of a dictionary. None for anything else."""
    for _, syntax in files(evidence):
        for function in syntax.functions:
            if function.name == name:
                yield from map(_list_keys, function.returned)


def _list_keys(value: ast.expr | None) -> list[object] | None:
    if isinstance(value, (ast.Tuple, ast.List)) and not any(isinstance(each, ast.Starred) for each in value.elts):
        return list(range(len(value.elts)))
    if isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys):
        return [
            *sorted(key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
        ]
    return None


def _find_read_keys(syntax: Syntax, node: ast.AST, keys: list[object]) -> set[int] | None:
    """The positions of the results in an expression that are read; None if all may be."""
    above = syntax.parents.get(node)
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
        return _find_read_targets(syntax, target.elts)
    return _find_read_parts(syntax, target, keys) if isinstance(target, ast.Name) else None


def _find_read_targets(syntax: Syntax, targets: list[ast.expr]) -> set[int]:
    """The positions of the names that are read anywhere in the file, also where they hold something else."""
    loaded = list_read_names(syntax.tree)
    return {n for n, each in enumerate(targets) if not isinstance(each, ast.Name) or each.id in loaded}


def _find_read_parts(syntax: Syntax, target: ast.Name, keys: list[object]) -> set[int] | None:
    """The results that are read by position or key from a name that holds all of them; None if the name holds another
    value too."""
    read: set[int] = set()
    for node in syntax.find_nodes(ast.Name):
        if node.id != target.id or node is target:
            continue
        if not isinstance(node.ctx, ast.Load) or isinstance(syntax.parents.get(node), ast.Assign):
            return None
        found = _find_read_keys(syntax, node, keys)
        if found is None:
            return None
        read |= found
    return read
