"""Find places in the user's source that ask an API for something: a keyword of a call, a string, a decorator."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.names import UNKNOWN

#: Objects that Keras' methods are called on, besides those that the file does not make.
_KERAS = ("keras.", "tensorflow.")


def list_files(evidence: Evidence) -> Iterator[tuple[str, Syntax]]:
    """List the user's files that can be parsed."""
    for file in evidence.files():
        syntax = evidence.syntax(file)
        if syntax is not None:
            yield file, syntax


def find_given(evidence: Evidence, word: str, wanted: Callable[[Expression], bool]) -> list[SourceSpan]:
    """Find where a keyword of a call, a key of a dictionary or an attribute of this name gets a wanted value."""
    found = {
        SourceSpan(file, line)
        for file, syntax in list_files(evidence)
        for line, value in syntax.find_given(word)
        if wanted(value)
    }
    return sorted(found, key=lambda span: (span.file, span.line))


def find_strings(evidence: Evidence, *parts: str) -> list[SourceSpan]:
    """Find the lines with a string that contains one of these."""
    return [
        SourceSpan(file, node.line)
        for file, syntax in list_files(evidence)
        for node in syntax.find_expressions("constant")
        if isinstance(node.value, str) and any(part in node.value for part in parts)
    ]


def find_methods(evidence: Evidence, *names: str) -> list[tuple[str, Call]]:
    """Find the calls of these methods on Keras objects, or on objects that are unknown."""
    found = []
    for file, syntax in list_files(evidence):
        for call in syntax.calls:
            owner, _, method = call.name.rpartition(".")
            if method in names and (owner == UNKNOWN or f"{owner}.".startswith(_KERAS)):
                found.append((file, call))
    return found


def is_true(node: Expression) -> bool:
    """Whether an expression is the constant True."""
    return node.is_constant(True)


def is_not_false(node: Expression) -> bool:
    """Whether an expression is anything but the constant False."""
    return not node.is_constant(False)


def is_compiled(function: Function) -> bool:
    """Whether a function is decorated with ``tf.function``."""
    return any(item.api == "tensorflow.function" for item in function.decorators)
