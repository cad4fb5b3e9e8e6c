"""Find where the source says how many examples a batch has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.names import UNKNOWN
from tfperfkit.syntax.nodes import find_nodes, is_constant
from tfperfkit_rules.measures.source_calls import files

_BATCH, _WORD = ("batch", "padded_batch", "ragged_batch"), "batch_size"
_LIBRARIES = ("keras.", "tensorflow.", f"{UNKNOWN}.")
_NEW_AXIS = ("numpy.newaxis", "tensorflow.newaxis")
_EXPANDS = ("numpy.expand_dims", "tensorflow.expand_dims", "keras.ops.expand_dims")


class Size(NamedTuple):
    """``line``: of the call that is given the size, 0 where none is; ``literal``: it stands there as a number;
    ``constant``: else the line that gives its name that number, 0 where none does. ``code``: to fill in another."""

    file: str
    line: int
    literal: bool
    constant: int
    code: str = ""


def batch_sizes(evidence: Evidence, batch: int) -> list[Size]:
    """Find what is passed as a batch's size, calls first; then names of the number ``batch`` by which data is cut."""
    found, cuts = [], []
    for file, syntax in files(evidence):
        for call in syntax.calls:
            for value, code in _find_sizes(syntax, call):
                literal = is_constant(value, batch)
                if isinstance(value, ast.Constant) and not literal:
                    continue
                constant = next((row.lineno for row in syntax.bound_to(value) if is_constant(row, batch)), 0)
                found.append(Size(file, call.lineno, literal, 0 if literal else constant, code))
        for name in _find_cutting_names(syntax):
            rows = [row.lineno for row in syntax.bound_to(name) if is_constant(row, batch)]
            cuts += [Size(file, 0, False, line) for line in rows[:1]]
    return found + cuts


def makes_single(evidence: Evidence, file: str, line: int) -> bool:
    """Whether a line makes a batch of one: ``x[None]``, ``expand_dims``, ``reshape(1, ...)``."""
    syntax = evidence.syntax(file)
    return syntax is not None and any(is_single(syntax, node) for node in syntax.at_line(line))


def _find_sizes(syntax: Syntax, call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    name = syntax.name(call.func)
    if not name.startswith(_LIBRARIES):
        return
    for word in call.keywords:
        if word.arg == _WORD:
            yield word.value, f"{_WORD}={{}}"
    method = name.rpartition(".")[2]
    if method in _BATCH and call.args:
        yield call.args[0], f".{method}({{}})"


def _find_cutting_names(syntax: Syntax) -> Iterator[ast.expr]:
    """Names that data is cut by: the step of a range, a bound of a slice."""
    parts = [part for node in syntax.find_nodes(ast.Slice) for part in (node.lower, node.upper)]
    parts += [part for call in syntax.named("builtins.range") for part in call.args[2:]]
    for part in parts:
        if part is not None:
            yield from find_nodes(part, ast.Name)


def is_single(syntax: Syntax, node: ast.expr) -> bool:
    """Whether an expression makes a batch of one, as ``makes_single`` says."""
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(is_constant(part, None) or syntax.name(part) in _NEW_AXIS for part in parts)
    if not isinstance(node, ast.Call):
        return False
    name = syntax.name(node.func)
    if name in _EXPANDS:
        return True
    if name.rpartition(".")[2] != "reshape":
        return False
    given = node.args[1:] if name.startswith(("numpy.reshape", "tensorflow.reshape", "keras.ops.")) else node.args
    first = given[0].elts[:1] if given and isinstance(given[0], (ast.Tuple, ast.List)) else given[:1]
    return bool(first) and is_constant(first[0], 1)
