"""A parsed source file: its calls, functions and loops, what stands on a line, and what its names stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from tfperfkit.syntax.function import Function, make_function
from tfperfkit.syntax.loop import LOOP_NODES, Loop, make_loop
from tfperfkit.syntax.loops import Span
from tfperfkit.syntax.names import Names
from tfperfkit.syntax.nodes import (
    FUNCTIONS,
    LOOPS,
    SCOPES,
    Node,
    find_nodes,
    get_last_name,
    get_lines,
    is_constant,
    list_names,
)

Key = TypeVar("Key")
Value = TypeVar("Value")
#: Nested expressions that are kept: a sum of this many terms, or half as many calls in a chain.
_DEEPEST = 100


class Syntax(Names):
    """Lines count from 1. Functions and loops are listed with outer ones before inner ones."""

    def __init__(self, tree: ast.Module) -> None:
        super().__init__(tree)
        #: The nodes of each kind, each with its number: outer ones come first.
        nodes = find_nodes(tree, ast.AST)
        self._by_kind = _group_by((type(node), (number, node)) for number, node in enumerate(nodes))
        self._by_line = _group_by(
            (line, node) for node in nodes if isinstance(node, ast.expr) for line in get_lines(node)
        )
        self.calls = sorted(self.find_nodes(ast.Call), key=lambda call: (call.lineno, call.col_offset))

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """All functions and methods, nested ones too; no lambdas."""
        owners = {item: node.name for node in self.find_nodes(ast.ClassDef) for item in node.body}
        return tuple(make_function(node, owners.get(node, "")) for node in self._find(FUNCTIONS))

    @cached_property
    def lambdas(self) -> tuple[Function, ...]:
        """All lambdas."""
        return tuple(make_function(node) for node in self.find_nodes(ast.Lambda))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """All loop statements and comprehensions."""
        return tuple(make_loop(node) for node in self._find(LOOP_NODES))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node around each node."""
        return {below: node for node in self.find_nodes(ast.AST) for below in ast.iter_child_nodes(node)}

    @cached_property
    def _function_at(self) -> dict[int, Function]:
        """The innermost function by line: inner ones come later."""
        return {line: item for item in self.functions for line in range(item.first, item.last + 1)}

    @cached_property
    def _loops_by_line(self) -> dict[int, list[Loop]]:
        return _group_by((line, item) for item in self.loops for line in item.lines)

    @cached_property
    def _statements_by_line(self) -> dict[int, list[ast.stmt]]:
        return _group_by((line, node) for node in self.find_nodes(ast.stmt) for line in get_lines(node))

    @cached_property
    def _calls_by_name(self) -> dict[str, list[ast.Call]]:
        return _group_by((get_last_name(call.func), call) for call in self.calls)

    @cached_property
    def run_on_import(self) -> list[ast.stmt]:
        """The statements that run when the file is imported, definitions of functions and classes left out.

        What stands under ``if __name__ == "__main__"`` runs only in the script's own process. A process that is
        started by spawning imports the script, so it runs these statements too.
        """
        found: list[ast.stmt] = []
        for node in self.tree.body:
            if isinstance(node, ast.If) and "__name__" in list_names(node.test):
                found += node.orelse
            elif not isinstance(node, SCOPES):
                found.append(node)
        return found

    def find_nodes(self, *kinds: type[Node]) -> list[Node]:
        """Find the nodes of these kinds in the file; outer ones come before inner ones."""
        return self._find(kinds)

    def _find(self, kinds: tuple[type[ast.AST], ...]) -> list[Any]:
        rows = [row for kind, rows in self._by_kind.items() if issubclass(kind, kinds) for row in rows]
        return [node for _, node in sorted(rows, key=lambda row: row[0])]

    def find_function(self, line: int) -> Function | None:
        """Find the innermost function around a line, decorators included; None at the module's top."""
        return self._function_at.get(line)

    def find_definition(self, line: int) -> Function | None:
        """Find the innermost function or lambda around a line."""
        around = (item for item in (*self.functions, *self.lambdas) if item.first <= line <= item.last)
        return max(around, key=lambda item: item.first, default=None)

    def find_only_function(self, name: str) -> Function | None:
        """Find the function or method of this name; None if the file has none or several."""
        found = [item for item in self.functions if item.name == name]
        return found[0] if len(found) == 1 else None

    def find_statements(self, line: int, *kinds: type[ast.stmt]) -> list[ast.stmt]:
        """Find the statements of these kinds around a line, outer ones before inner ones."""
        return [node for node in self._statements_by_line.get(line, ()) if isinstance(node, kinds)]

    def is_in_loop(self, node: ast.AST) -> bool:
        """Whether a ``for`` or ``while`` statement of the same function stands around a node."""
        while (around := self.parents.get(node)) is not None and not isinstance(around, FUNCTIONS):
            if isinstance(around, LOOPS):
                return True
            node = around
        return False

    def find_loops(self, line: int) -> tuple[Loop, ...]:
        """Find the loops around a line within its function, outermost first."""
        scope = self.find_function(line)
        around = (item for item in self._loops_by_line.get(line, ()) if self.find_function(item.line) == scope)
        return tuple(sorted(around, key=lambda item: (item.line, -item.last)))

    def find_given(self, word: str) -> list[tuple[int, ast.expr]]:
        """Find what keywords of calls, keys of dictionaries and attributes of this name get, each with its line."""
        found = [(item.lineno, item.value) for item in self.find_nodes(ast.keyword) if item.arg == word]
        for node in self.find_nodes(ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            found += [(key.lineno, value) for key, value in pairs if key is not None and is_constant(key, word)]
        for row in self.find_nodes(ast.Assign):
            targets = [item for item in row.targets if isinstance(item, ast.Attribute) and item.attr == word]
            found += [(item.lineno, row.value) for item in targets]
        return found

    def find_calls(self, name: str) -> list[ast.Call]:
        """Find the calls of any function or method of this name, in order of their lines."""
        return self._calls_by_name.get(name, [])

    def named(self, *names: str) -> Iterator[ast.Call]:
        """The calls of these APIs, in order of their lines."""
        return (call for call in self.calls if self.name(call.func) in names)

    def at_line(self, line: int) -> list[ast.expr]:
        """The expressions that a line has a part of, outer ones before inner ones."""
        return self._by_line.get(line, [])

    def calls_at(self, line: int) -> list[ast.Call]:
        """The calls among ``at_line``."""
        return [node for node in self.at_line(line) if isinstance(node, ast.Call)]

    def running(self, line: int, span: Span | None) -> list[ast.expr]:
        """The expression that an instruction at ``span`` belongs to; without one all calls that begin at the line."""
        if span is not None:
            ends = [
                node for node in self.at_line(span[1]) if (node.end_lineno, node.end_col_offset) == (span[1], span[3])
            ]
            begun = [node for node in ends if (node.lineno, node.col_offset) <= (span[0], span[2])]
            if begun:
                return [max(begun, key=lambda node: (node.lineno, node.col_offset, isinstance(node, ast.Call)))]
            return []
        return [call for call in self.calls_at(line) if call.lineno == line]

    def running_calls(self, line: int, span: Span | None) -> list[ast.Call]:
        """The calls among ``running``."""
        return [node for node in self.running(line, span) if isinstance(node, ast.Call)]


def _group_by(rows: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    found: dict[Key, list[Value]] = {}
    for key, value in rows:
        found.setdefault(key, []).append(value)
    return found


@lru_cache(maxsize=512)
def parse(lines: tuple[str, ...]) -> Syntax | None:
    """The syntax of a file's lines; None for what is not Python that can be read."""
    try:
        tree = ast.parse("\n".join(line.rstrip("\r\n") for line in lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
    _cut_deep_expressions(tree)
    return Syntax(tree)


def _cut_deep_expressions(tree: ast.Module) -> None:
    """Replace what is nested too deeply in an expression by a name that stands for nothing.

    Then questions about a tree can be answered by recursion.
    """
    pending: list[tuple[ast.AST, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > _DEEPEST:
            for field, value in ast.iter_fields(node):
                setattr(node, field, [*map(_cut, value)] if isinstance(value, list) else _cut(value))
        pending += [(child, 0 if isinstance(child, ast.stmt) else depth + 1) for child in ast.iter_child_nodes(node)]


def _cut(value: Any) -> Any:
    return ast.copy_location(ast.Name("...", ast.Load()), value) if isinstance(value, ast.expr) else value
