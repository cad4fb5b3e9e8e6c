"""Find where source goes through the whole of a container, by the container's name."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.module import Syntax

#: Calls and methods that take no longer for a longer container.
_QUICK = frozenset(("builtins.len", "builtins.id", "builtins.isinstance", "builtins.type", "builtins.bool"))
_ENDS = frozenset(
    ("append", "appendleft", "extend", "add", "pop", "popleft", "popitem", "update", "setdefault", "get", "discard")
)


def find_container_passes(syntax: Syntax, name: str) -> list[int]:
    """Find the lines that pass a whole container to a call, call a method of the container, loop over the container or
    search it.
    """
    return sorted(set(_find_lines(syntax, name.rpartition(".")[2])))


def _find_lines(syntax: Syntax, name: str) -> Iterator[int]:
    yield from (call.line for call in syntax.calls if _passes(call, name))
    for loop in syntax.loops:
        if any(_is_whole(over, name) for over in loop.iterables):
            yield loop.line
    for item in syntax.find_expressions("comparison"):
        if item.operator in ("in", "not in") and item.operands[1].last_name == name:
            yield item.line


def _passes(call: Call, name: str) -> bool:
    if call.method in _ENDS:
        return False  # what is put into another container stays as it is
    if any(_is_whole(item, name) for item in call.given):
        return call.name not in _QUICK
    return call.receiver is not None and call.receiver.last_name == name


def _is_whole(node: Expression, name: str) -> bool:
    """Return whether an argument is it, or holds it: ``[kept, new]``; a part of it (``kept[-100:]``) is not."""
    inner = node.items if node.kind in ("list", "tuple") else [node.owner] if node.kind == "starred" else []
    return node.last_name == name or any(item is not None and _is_whole(item, name) for item in inner)
