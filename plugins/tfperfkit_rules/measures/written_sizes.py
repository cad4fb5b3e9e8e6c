"""Find where the source says how many examples a batch has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.names import UNKNOWN
from tfperfkit_rules.measures.source_calls import list_files

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


def find_batch_sizes(evidence: Evidence, batch: int) -> list[Size]:
    """Find what is passed as a batch's size, calls first; then names of the number ``batch`` by which data is cut."""
    found, cuts = [], []
    for file, syntax in list_files(evidence):
        for call in syntax.calls:
            for value, code in _find_sizes(call):
                literal = value.is_constant(batch)
                if value.is_constant() and not literal:
                    continue
                constant = next((row.line for row in value.assigned if row.is_constant(batch)), 0)
                found.append(Size(file, call.line, literal, 0 if literal else constant, code))
        for name in _find_cutting_names(syntax):
            rows = [row.line for row in name.assigned if row.is_constant(batch)]
            cuts += [Size(file, 0, False, line) for line in rows[:1]]
    return found + cuts


def makes_batch_of_one(evidence: Evidence, file: str, line: int) -> bool:
    """Whether a line makes a batch of one: ``x[None]``, ``expand_dims``, ``reshape(1, ...)``."""
    syntax = evidence.syntax(file)
    return syntax is not None and any(map(is_batch_of_one, syntax.find_line_expressions(line)))


def _find_sizes(call: Call) -> Iterator[tuple[Expression, str]]:
    if not call.name.startswith(_LIBRARIES):
        return
    if _WORD in call.keywords:
        yield call.keywords[_WORD], f"{_WORD}={{}}"
    method = call.name.rpartition(".")[2]
    if method in _BATCH and call.arguments:
        yield call.arguments[0], f".{method}({{}})"


def _find_cutting_names(syntax: Syntax) -> Iterator[Expression]:
    """Find the names by which data is cut: the step of a range, a bound of a slice."""
    parts = [part for node in syntax.find_expressions("slice") for part in node.bounds if part is not None]
    parts += [part for call in syntax.find_api_calls("builtins.range") for part in call.arguments[2:]]
    return (name for part in parts for name in part.parts if name.kind == "name")


def is_batch_of_one(node: Expression) -> bool:
    """Whether an expression makes a batch of one, as ``makes_batch_of_one`` says."""
    if not isinstance(node, Call):
        return any(part.is_constant(None) or part.api in _NEW_AXIS for part in node.indices)
    name, given = node.name, node.arguments
    if name in _EXPANDS:
        return True
    if name.rpartition(".")[2] != "reshape":
        return False
    given = given[1:] if name.startswith(("numpy.reshape", "tensorflow.reshape", "keras.ops.")) else given
    first = given[0].items[:1] if given and given[0].kind in ("tuple", "list") else given[:1]
    return bool(first) and first[0].is_constant(1)
