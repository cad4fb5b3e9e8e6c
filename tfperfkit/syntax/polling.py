"""Find the lines at which an endless loop only asks whether there is something to do."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tfperfkit.syntax.module import parse
from tfperfkit.syntax.nodes import get_lines


@lru_cache(maxsize=64)
def find_polling_lines(source: tuple[str, ...]) -> frozenset[int]:
    """Find the lines with the tests of ``while`` loops, and the lines directly in the loops that only test or skip."""
    syntax = parse(source)
    loops = syntax.find_nodes(ast.While) if syntax is not None else []
    return frozenset(line for node in loops for line in (*get_lines(node.test), *_find_in_body(node.body)))


def _find_in_body(body: Iterable[ast.stmt]) -> Iterator[int]:
    for node in body:
        if isinstance(node, ast.If):
            yield from get_lines(node.test)
            yield from _find_in_body((*node.body, *node.orelse))
        elif isinstance(node, ast.Try):
            yield node.lineno
            for handler in node.handlers:
                yield handler.lineno
                yield from _find_in_body(handler.body)
            yield from _find_in_body((*node.body, *node.orelse, *node.finalbody))
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from _find_in_body(node.body)
        elif isinstance(node, (ast.Pass, ast.Continue)):
            yield node.lineno
