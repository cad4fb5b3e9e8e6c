"""Places in the person's source where an API is asked for something: a keyword of a call, a string, a decorator."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.names import UNKNOWN
from tfperfkit_rules.measures.source_text import Function

#: Objects that Keras' methods are called of, besides those that the file does not make.
_KERAS = ("keras.", "tensorflow.")


def files(evidence: Evidence) -> Iterator[tuple[str, Syntax]]:
    """The person's files that can be parsed."""
    for file in evidence.files():
        syntax = evidence.syntax(file)
        if syntax is not None:
            yield file, syntax


def given(evidence: Evidence, word: str, wanted: Callable[[ast.expr], bool]) -> list[SourceSpan]:
    """Where a keyword of a call, a key of a dictionary or an attribute of this name gets a value that is wanted."""
    found = []
    for file, syntax in files(evidence):
        for node in ast.walk(syntax.tree):
            if isinstance(node, ast.keyword) and node.arg == word and wanted(node.value):
                found.append(SourceSpan(file, node.lineno))
            elif isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                found += [
                    SourceSpan(file, key.lineno)
                    for key, value in pairs
                    if isinstance(key, ast.Constant) and key.value == word and wanted(value)
                ]
            elif isinstance(node, ast.Assign) and wanted(node.value):
                targets = [item for item in node.targets if isinstance(item, ast.Attribute) and item.attr == word]
                found += [SourceSpan(file, item.lineno) for item in targets]
    return sorted(set(found), key=lambda span: (span.file, span.line))


def strings(evidence: Evidence, *parts: str) -> list[SourceSpan]:
    """The lines with a string that holds one of these."""
    return [
        SourceSpan(file, node.lineno)
        for file, syntax in files(evidence)
        for node in ast.walk(syntax.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and any(part in node.value for part in parts)
    ]


def methods(evidence: Evidence, *names: str) -> list[tuple[str, ast.Call]]:
    """The calls of these methods of Keras' objects, or of objects that are not known."""
    found = []
    for file, syntax in files(evidence):
        for call in syntax.calls:
            owner, _, method = syntax.name(call.func).rpartition(".")
            if method in names and (owner == UNKNOWN or f"{owner}.".startswith(_KERAS)):
                found.append((file, call))
    return found


def is_true(node: ast.expr) -> bool:
    """Whether an expression is the constant True."""
    return isinstance(node, ast.Constant) and node.value is True


def is_not_false(node: ast.expr) -> bool:
    """Whether an expression is anything but the constant False."""
    return not (isinstance(node, ast.Constant) and node.value is False)


def is_compiled(evidence: Evidence, file: str, function: Function) -> bool:
    """Whether a function is decorated by ``tf.function``."""
    syntax = evidence.syntax(file)
    for node in ast.walk(syntax.tree) if syntax is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno == function.line:
            names = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
            return syntax is not None and any(syntax.name(name) == "tensorflow.function" for name in names)
    return False
