"""A parsed source file: its calls, functions and loops, what stands on a line, and what its names stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar

from tfperfkit.syntax.expression import Assignment, Call, Code, Expression, File, make_assignment
from tfperfkit.syntax.function import Function, make_function
from tfperfkit.syntax.kinds import KINDS
from tfperfkit.syntax.loop import LOOP_NODES, Loop, make_loop
from tfperfkit.syntax.loops import Span
from tfperfkit.syntax.nodes import FUNCTIONS, SCOPES, Node, find_nodes, get_lines, list_names

Key = TypeVar("Key")
Value = TypeVar("Value")
#: Nested expressions that are kept: a sum of this many terms, or half as many calls in a chain.
_DEEPEST = 100


class Import(NamedTuple):
    """``modules``: what it names; "" for the user's own package."""

    lines: range
    modules: tuple[str, ...]


class Syntax(File):
    """Lines count from 1. Functions and loops are listed with outer ones before inner ones."""

    def __init__(self, tree: ast.Module) -> None:
        super().__init__(tree)
        #: The nodes of each kind, each with its number: outer ones come first.
        nodes = find_nodes(tree, ast.AST)
        self._nodes_by_kind = _group_by((type(node), (number, node)) for number, node in enumerate(nodes))
        self._by_line = _group_by(
            (line, node) for node in nodes if isinstance(node, ast.expr) for line in get_lines(node)
        )

    @cached_property
    def calls(self) -> list[Call]:
        """Return all calls, in the order of the source."""
        found = sorted(self.find_nodes(ast.Call), key=lambda call: (call.lineno, call.col_offset))
        return [self.wrap(node) for node in found]

    @cached_property
    def assignments(self) -> list[Assignment]:
        """Return all assignments, in the order of the source; without those of ``for``, ``with`` and imports."""
        nodes = self._find((ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr))
        found = (make_assignment(self, node) for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)))
        return [item for item in found if item is not None]

    @cached_property
    def read_names(self) -> set[str]:
        """Return the names that the file reads."""
        return Code(self.tree, self).read_names

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Return all functions and methods, nested ones too; no lambdas."""
        owners = {item: node.name for node in self.find_nodes(ast.ClassDef) for item in node.body}
        return tuple(make_function(self, node, owners.get(node, "")) for node in self._find(FUNCTIONS))

    @cached_property
    def lambdas(self) -> tuple[Function, ...]:
        """Return all lambdas."""
        return tuple(make_function(self, node) for node in self.find_nodes(ast.Lambda))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Return all loop statements and comprehensions."""
        return tuple(make_loop(self, node) for node in self._find(LOOP_NODES))

    @cached_property
    def _function_at(self) -> dict[int, Function]:
        """Return the innermost function by line: inner ones come later."""
        return {line: item for item in self.functions for line in range(item.first, item.last + 1)}

    @cached_property
    def _loops_by_line(self) -> dict[int, list[Loop]]:
        return _group_by((line, item) for item in self.loops for line in item.lines)

    @cached_property
    def _statements_by_line(self) -> dict[int, list[ast.stmt]]:
        return _group_by((line, node) for node in self.find_nodes(ast.stmt) for line in get_lines(node))

    @cached_property
    def _calls_by_name(self) -> dict[str, list[Call]]:
        return _group_by((call.function.last_name, call) for call in self.calls)

    @cached_property
    def lines_run_on_import(self) -> set[int]:
        """Return the lines that run when the file is imported, definitions of functions and classes left out.

        The block under ``if __name__ == "__main__"`` runs only in the script's own process. A process that is
        started by spawning imports the script, so it runs these lines too.
        """
        found: list[ast.stmt] = []
        for node in self.tree.body:
            if isinstance(node, ast.If) and "__name__" in list_names(node.test):
                found += node.orelse
            elif not isinstance(node, SCOPES):
                found.append(node)
        return {line for node in found for line in get_lines(node)}

    @cached_property
    def imports(self) -> list[Import]:
        """Return all imports, in any scope."""
        rows = [(get_lines(node), tuple(item.name for item in node.names)) for node in self.find_nodes(ast.Import)]
        rows += [(get_lines(node), (node.module or "",)) for node in self.find_nodes(ast.ImportFrom)]
        return [Import(*row) for row in sorted(rows, key=lambda row: row[0][0])]

    def find_entered_lines(self, api: str) -> set[int] | None:
        """Find the lines in ``with`` statements that enter a call of an API; None if other code may enter one."""
        found: set[int] = set()
        entered = 0
        statements: list[ast.With | ast.AsyncWith] = self._find((ast.With, ast.AsyncWith))
        for node in statements:
            inside = [self.wrap(item.context_expr) for item in node.items]
            calls = sum(isinstance(item, Call) and item.name == api for item in inside)
            entered += calls
            found.update(get_lines(node) if calls else ())
        return found if entered == sum(1 for _ in self.find_api_calls(api)) else None

    def find_nodes(self, *kinds: type[Node]) -> list[Node]:
        """Find the nodes of these kinds in the file; outer ones come before inner ones."""
        return self._find(kinds)

    def _find(self, kinds: tuple[type[ast.AST], ...]) -> list[Any]:
        rows = [row for kind, rows in self._nodes_by_kind.items() if issubclass(kind, kinds) for row in rows]
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

    def find_branches(self, line: int) -> list[int]:
        """Find the lines at which ``if``, ``try``, ``match`` and ``... if ... else ...`` around a line begin."""
        around = (*self._statements_by_line.get(line, ()), *self._by_line.get(line, ()))
        return [node.lineno for node in around if isinstance(node, (ast.If, ast.Try, ast.Match, ast.IfExp))]

    def find_loops(self, line: int) -> tuple[Loop, ...]:
        """Find the loops around a line within its function, outermost first."""
        scope = self.find_function(line)
        around = (item for item in self._loops_by_line.get(line, ()) if self.find_function(item.line) == scope)
        return tuple(sorted(around, key=lambda item: (item.line, -item.last)))

    def find_given(self, word: str) -> list[tuple[int, Expression]]:
        """Find what keywords of calls, keys of dictionaries and attributes of this name get, each with its line."""
        found = [(item.lineno, self.wrap(item.value)) for item in self.find_nodes(ast.keyword) if item.arg == word]
        for made in self.find_expressions("dict"):
            found += [(key.line, value) for key, value in made.pairs if key.is_constant(word)]
        for row in self.assignments:
            named = [item for item in row.targets if item.kind == "attribute" and item.last_name == word]
            found += [(item.line, row.value) for item in named if not row.operator]
        return found

    def find_expressions(self, *kinds: str) -> list[Expression]:
        """Find the expressions of these kinds (``Expression.kind``) in the file, outer ones before inner ones."""
        types = tuple(type_ for type_, kind in KINDS.items() if kind in kinds)
        return [self.wrap(node) for node in self._find(types)]

    def find_calls(self, name: str) -> list[Call]:
        """Find the calls of any function or method of this name, in order of their lines."""
        return self._calls_by_name.get(name, [])

    def find_api_calls(self, *names: str) -> Iterator[Call]:
        """Find the calls of these APIs, in order of their lines."""
        return (call for call in self.calls if call.name in names)

    def find_line_expressions(self, line: int) -> list[Expression]:
        """Find the expressions that a line has a part of, outer ones before inner ones."""
        return [self.wrap(node) for node in self._by_line.get(line, ())]

    def find_line_calls(self, line: int) -> list[Call]:
        """Find the calls that a line has a part of, outer ones before inner ones."""
        return [node for node in self.find_line_expressions(line) if isinstance(node, Call)]

    def find_running(self, line: int, span: Span | None) -> list[Expression]:
        """Find the expression that an instruction at ``span`` belongs to; without a span all calls that begin at the
        line."""
        if span is None:
            return [call for call in self.find_line_calls(line) if call.line == line]
        begin, end = (span[0], span[2]), (span[1], span[3])
        spans = [(node, node.span) for node in self.find_line_expressions(span[1])]
        around = [(at[0], at[2], isinstance(node, Call), node) for node, at in spans if (at[1], at[3]) == end]
        begun = [row for row in around if row[:2] <= begin]
        return [max(begun, key=lambda row: row[:3])[3]] if begun else []

    def find_running_calls(self, line: int, span: Span | None) -> list[Call]:
        """Find the calls among what is running."""
        return [node for node in self.find_running(line, span) if isinstance(node, Call)]


def get_file(code: Code) -> Syntax:
    """Return the file that a piece of code is in."""
    assert isinstance(code.file, Syntax)
    return code.file


def _group_by(rows: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    found: dict[Key, list[Value]] = {}
    for key, value in rows:
        found.setdefault(key, []).append(value)
    return found


@lru_cache(maxsize=512)
def parse(lines: tuple[str, ...]) -> Syntax | None:
    """Return the syntax of a file's lines; None for what is not Python that can be read."""
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
