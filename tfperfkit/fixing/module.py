"""A parsed source file: its calls by line, what its names were imported as, what stands around a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any

import libcst as cst
from libcst.metadata import ImportAssignment, MetadataWrapper, PositionProvider, ScopeProvider

from tfperfkit.fixing.edit import NoFix

#: Names under which one API stands more than once.
_SAME = ("tensorflow.compat.v2.", "tensorflow.compat.v1.", "tensorflow._api.v2.")


class Module:
    """Raises ``NoFix`` for what is not Python that LibCST reads. Lines count from 1."""

    def __init__(self, file: str, content: bytes) -> None:
        self.file = file
        try:
            tree = cst.parse_module(content)
        except (cst.ParserSyntaxError, UnicodeDecodeError, RecursionError, LookupError) as error:
            raise NoFix("its source can't be parsed") from error
        if tree.bytes != content:
            raise NoFix("its source can't be written back as it is")
        # A tree that was just parsed has each node once, so it need not be copied.
        self._wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        self.tree: cst.Module = self._wrapper.module

    @cached_property
    def _positions(self) -> Mapping[cst.CSTNode, Any]:
        found: Mapping[cst.CSTNode, Any] = self._wrapper.resolve(PositionProvider)
        return found

    @cached_property
    def _parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        """Map each node to its parent, in the order of the source: asking LibCST for the nodes below one takes long, so
        it is asked once.
        """
        found: dict[cst.CSTNode, cst.CSTNode] = {}
        pending: list[tuple[cst.CSTNode, cst.CSTNode]] = [(self.tree, child) for child in reversed(self.tree.children)]
        while pending:
            parent, node = pending.pop()
            found[node] = parent
            pending += [(node, child) for child in reversed(node.children)]
        return found

    @cached_property
    def _scopes(self) -> Mapping[cst.CSTNode, Any]:
        found: Mapping[cst.CSTNode, Any] = self._wrapper.resolve(ScopeProvider)
        return found

    @property
    def nodes(self) -> Iterator[cst.CSTNode]:
        """Return all of the file, in the order of the source."""
        return chain((self.tree,), self._parents)

    @cached_property
    def calls(self) -> list[cst.Call]:
        """Return all calls, in the order of the source."""
        return [node for node in self.nodes if isinstance(node, cst.Call)]

    def line(self, node: cst.CSTNode) -> int:
        """Return the first line of a node; for a method's call the line of the method's name, as Python counts it."""
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.attr
        return int(self._positions[node].start.line)

    def last_line(self, node: cst.CSTNode) -> int:
        """Return the last line of a node."""
        return int(self._positions[node].end.line)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around a node, the nearest first."""
        at = self._parents.get(node)
        while at is not None:
            yield at
            at = self._parents.get(at)

    def spans(self, node: cst.CSTNode, line: int) -> bool:
        """Return whether a line belongs to a node."""
        position = self._positions[node]
        return bool(position.start.line <= line <= position.end.line)

    def methods_at(self, line: int, *names: str) -> list[cst.Call]:
        """Calls of methods of these names on a line, or else in the one simple statement that the line is part of."""
        named = [call for call in self.calls if method(call) in names]
        exact = [call for call in named if self.line(call) == line]
        return exact or [call for call in named if self._in_statement(call, line)]

    def _in_statement(self, call: cst.Call, line: int) -> bool:
        for node in self.around(call):
            if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
                return isinstance(node, cst.SimpleStatementLine) and self.spans(node, line)
        return False

    def lines_at(self, line: int) -> list[cst.SimpleStatementLine]:
        """Return the simple statements that a line is part of."""
        return [node for node in self.nodes if isinstance(node, cst.SimpleStatementLine) and self.spans(node, line)]

    def function_at(self, line: int, name: str = "") -> cst.FunctionDef | None:
        """Return the function whose ``def`` or decorator stands on a line."""
        last = name.rpartition(".")[2]
        for node in self.nodes:
            if isinstance(node, cst.FunctionDef) and (not last or last.startswith("<") or node.name.value == last):
                lines = {self.line(node.name), *(self.line(item) for item in node.decorators)}
                if line in lines:
                    return node
        return None

    def imported(self, node: cst.CSTNode) -> str | None:
        """Return the full name that a name, or a dotted one, was imported as: ``tensorflow.data.AUTOTUNE``; None if it
        was not imported.
        """
        words = dotted(node)
        if words is None:
            return None
        first, _, rest = words.partition(".")
        base = self._import_of(first, node)
        return canonical(f"{base}.{rest}" if rest else base) if base else None

    def spelled(self, name: str, at: cst.CSTNode) -> cst.BaseExpression:
        """``tensorflow.data.AUTOTUNE`` as it is called at a node of this file: ``tf.data.AUTOTUNE``; raises NoFix."""
        found: list[tuple[bool, int, str]] = []
        scope: Any = self._scopes.get(at)
        while scope is not None:
            for item in scope.assignments:
                if isinstance(item, ImportAssignment):
                    base = self._import_of(item.name, at)
                    known = canonical(base) if base else ""
                    if known and (name == known or name.startswith(known + ".")):
                        found.append((known == "tensorflow", len(known), item.name + name[len(known) :]))
            scope = scope.parent if scope.parent is not scope else None
        if not found:
            raise NoFix(f"{name.partition('.')[0]} is not imported by a name in this file")
        return cst.parse_expression(max(found)[2])

    def _import_of(self, name: str, at: cst.CSTNode) -> str:
        """Return the module or object that a name is bound to by imports alone."""
        scope: Any = self._scopes.get(at)
        if scope is None:
            return ""
        found = {_imported(item.node, name) if isinstance(item, ImportAssignment) else "" for item in scope[name]}
        return found.pop() if len(found) == 1 else ""


def _imported(node: cst.CSTNode, name: str) -> str:
    if not isinstance(node, (cst.Import, cst.ImportFrom)) or isinstance(node.names, cst.ImportStar):
        return ""
    for item in node.names:
        bound = item.evaluated_alias or item.evaluated_name.partition(".")[0]
        if isinstance(node, cst.Import):
            if bound == name:
                return str(item.evaluated_name if item.evaluated_alias else bound)
        elif (item.evaluated_alias or item.evaluated_name) == name and node.module is not None and not node.relative:
            return f"{dotted(node.module)}.{item.evaluated_name}"
    return ""


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all below it, in the order of the source."""
    pending = [node]
    while pending:
        at = pending.pop()
        yield at
        pending += reversed(at.children)


def find_called_bodies(module: Module, body: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a piece of code, and the bodies of the functions of the same file that it calls by name or on ``self``."""
    own = {node.name.value: node.body for node in module.nodes if isinstance(node, cst.FunctionDef)}
    pending, seen = [body], {body}
    while pending:
        at = pending.pop()
        yield at
        for node in walk(at):
            words = (dotted(node.func) or "").removeprefix("self.") if isinstance(node, cst.Call) else ""
            called = own.get(words)
            if called is not None and called not in seen:
                seen.add(called)
                pending.append(called)


def method(call: cst.Call) -> str:
    """Return the name of the method that is called; "" for a function."""
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else ""


def dotted(node: cst.CSTNode) -> str | None:
    """``a.b.c`` of names and attributes alone."""
    if isinstance(node, cst.Name):
        return str(node.value)
    if isinstance(node, cst.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr.value}" if before else None
    return None


def canonical(name: str) -> str:
    """One name for an API that has several."""
    for start in _SAME:
        if name.startswith(start):
            return "tensorflow." + name[len(start) :]
        if name == start[:-1]:
            return "tensorflow"
    return name
