"""A script whose text is edited at the nodes of its syntax tree, so that it is written in other words.

An edit keeps the lines that it doesn't change, with their comments. Additions go on the line before, or on
an empty line, if there is one: so most statements keep their lines. ``forms`` has the edits.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tfperfkit.syntax.bindings import CALLABLES, Frames

LOOPS = (ast.For, ast.While)
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Import, ast.ImportFrom)
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


class Program:
    """A script and the edits that were proposed. Offsets count bytes, as Python's own columns do."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.tree = ast.parse(text)
        self.frames = Frames(self.tree)
        self.nodes = [*ast.walk(self.tree)]
        self.parents = {below: node for node in self.nodes for below in ast.iter_child_nodes(node)}
        rows = self.data.splitlines(keepends=True)
        self.starts = [sum(map(len, rows[:index])) for index in range(len(rows) + 1)]
        self.whole: str | None = None  # of a form that moves code
        self._edits: list[tuple[int, int, str]] = []
        self._filled: defaultdict[int, list[str]] = defaultdict(list)

    def begin(self, node: ast.AST) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.AST) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def source(self, node: ast.AST) -> str:
        return self.data[self.begin(node) : self.end(node)].decode()

    def line(self, number: int) -> str:
        return self.data[self.starts[number - 1] : self.starts[number]].decode() if number < len(self.starts) else "-"

    def replace(self, node: ast.AST, text: str) -> None:
        self._edits.append((self.begin(node), self.end(node), text))

    def insert(self, offset: int, text: str) -> None:
        self._edits.append((offset, offset, text))

    def cut(self, begin: int, end: int, text: str = "") -> None:
        self._edits.append((begin, end, text))

    def put_before(self, statement: ast.stmt, text: str) -> None:
        """Add a simple statement that runs before another one."""
        block = self.block(statement)
        index = block.index(statement)
        before = block[index - 1] if index else None
        first = min([statement.lineno, *(item.lineno for item in getattr(statement, "decorator_list", ()))])
        if isinstance(before, SIMPLE) and before.end_lineno < first:
            self.insert(self.end(before), f"; {text}")
        else:
            self._put_line(first - 1, first, statement.col_offset, text)

    def put_behind(self, statement: ast.stmt, text: str) -> None:
        """Add a simple statement that runs when another one is done."""
        if isinstance(statement, SIMPLE):
            self.insert(self.end(statement), f"; {text}")
        else:
            self._put_line(statement.end_lineno + 1, statement.end_lineno + 1, statement.col_offset, text)

    def put_behind_imports(self, text: str) -> None:
        """Add a simple statement behind the script's last import."""
        self.put_behind([item for item in self.tree.body if isinstance(item, (ast.Import, ast.ImportFrom))][-1], text)

    def _put_line(self, empty: int, before: int, column: int, text: str) -> None:
        if not self.line(empty).strip():
            self._filled[empty].append(" " * column + text)
        else:
            self.insert(self.starts[before - 1], " " * column + text + "\n")

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        parent = self.parents[statement]
        blocks = (getattr(parent, name, None) for name in ("body", "orelse", "finalbody"))
        return next(block for block in blocks if isinstance(block, list) and statement in block)

    def statement(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def scope(self, node: ast.AST) -> ast.AST:
        """The function, lambda, class body, comprehension or module whose names a node uses."""
        below = node
        for item in self.around(node):
            if item in self.frames.of and not self._is_outside(item, below):
                return item
            below = item
        return self.tree

    def _is_outside(self, scope: ast.AST, part: ast.AST) -> bool:
        """Whether a part of a definition is evaluated around it: decorators, defaults, the first iterable."""
        if isinstance(scope, CALLABLES):
            return part not in (scope.body if isinstance(scope.body, list) else [scope.body])
        if isinstance(scope, ast.ClassDef):
            return part not in scope.body
        return False

    def owner(self, node: ast.Name) -> ast.AST | None:
        found = self.frames.of[self.scope(node)].owner(node.id)
        return found.node if found is not None else None

    def is_read(self, node: ast.AST) -> bool:
        """Tell whether a name is in the text where the tree says: within an f-string it may not be."""
        return isinstance(node, ast.Name) and self.source(node) == node.id

    def module_names(self, name: str) -> list[ast.Name]:
        return [
            item
            for item in self.nodes
            if isinstance(item, ast.Name) and item.id == name and self.owner(item) is self.tree
        ]

    def finish(self) -> str | None:
        """The new text; None if nothing was proposed."""
        if self.whole is not None:
            return self.whole
        for number, texts in self._filled.items():
            at = min(number, len(self.starts)) - 1
            end = self.starts[at + 1] if at + 1 < len(self.starts) else len(self.data)
            column = len(texts[0]) - len(texts[0].lstrip())
            self._edits.append((self.starts[at], end, " " * column + "; ".join(map(str.strip, texts)) + "\n"))
        if not self._edits:
            return None
        parts, at = [], 0
        for begin, end, text in sorted(self._edits, key=lambda edit: edit[:2]):
            if begin < at:
                continue  # it stands within what was replaced as a whole
            parts += [self.data[at:begin], text.encode()]
            at = end
        return b"".join([*parts, self.data[at:]]).decode()

    # Functions that can be called, and their places.

    def functions(self) -> Iterator[tuple[ast.FunctionDef, list[ast.Call]]]:
        """The functions of the module that are bound once, with the calls of each behind its ``def``."""
        for item in self.tree.body:
            if isinstance(item, ast.FunctionDef):
                uses = self.module_names(item.name)
                calls = [self.parents[use] for use in uses if self.is_called(use)]
                if all(isinstance(use.ctx, ast.Load) and self.is_read(use) for use in uses) and calls:
                    yield item, calls

    def libraries(self) -> dict[str, list[ast.Call]]:
        """The functions of imported modules that the script calls (``np.random.choice``), with their calls."""
        found: defaultdict[str, list[ast.Call]] = defaultdict(list)
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and self.is_called(node):
                root = node
                while isinstance(root, ast.Attribute):
                    root = root.value
                is_module = isinstance(root, ast.Name) and root.id in self.modules() and self.owner(root) is self.tree
                if is_module and self.source(node) == ast.unparse(node):
                    found[ast.unparse(node)].append(self.parents[node])
        return found

    def modules(self) -> dict[str, ast.Import]:
        """The names of the modules that the script imports as a whole."""
        return {
            (name.asname or name.name): item
            for item in self.tree.body
            if isinstance(item, ast.Import)
            for name in item.names
            if name.asname or "." not in name.name
        }

    def is_called(self, node: ast.AST) -> bool:
        """Whether a node is what a call calls, at a place that can be edited."""
        parent = self.parents[node]
        if not isinstance(parent, ast.Call) or parent.func is not node:
            return False
        # A decorator or a base is evaluated when the definition is; an f-string has no places.
        return not any(
            isinstance(item, ast.JoinedStr) or parent in getattr(item, "decorator_list", ())
            for item in self.around(parent)
        )
