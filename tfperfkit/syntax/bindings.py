"""The names that a function, a class body or a module binds, and the scope in which a name is looked up.

Follows Python's own rules: ``global`` and ``nonlocal``, functions skip the class bodies around them, a walrus in a
comprehension binds in the function around it, and a comprehension's targets are its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Callable = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
CALLABLES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(eq=False)
class Frame:
    """One scope. ``bound``: the names that it binds itself; ``outer``: names declared ``global`` or ``nonlocal``;
    ``used``: the names in its code, without scopes within; ``yields``: it makes a function a generator."""

    node: ast.AST
    parent: Frame | None
    bound: set[str] = field(default_factory=set)
    to_module: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    yields: bool = False

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    def owner(self, name: str) -> Frame | None:
        """Return the scope that owns a name which code in this scope reads; None for a builtin or an unbound name."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.to_module:
                return self.module()._owner_of(name)
            if name in frame.bound and name not in frame.outer and (frame is self or not frame.is_class):
                return frame
            frame = frame.parent
        return None

    def _owner_of(self, name: str) -> Frame | None:
        return self if name in self.bound else None

    def module(self) -> Frame:
        """Return the module's scope."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame


class Frames:
    """The scopes of a module, by the node that makes each: module, functions, lambdas, class bodies, comprehensions."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = Frame(tree, None)
        self.of: dict[ast.AST, Frame] = {tree: self.module}
        #: The names that any function rebinds with ``global`` or ``nonlocal``, with the scope that owns them.
        self.rebound: set[tuple[Frame | None, str]] = set()
        #: The scope whose statement or expression a loop is.
        self.home: dict[ast.AST, Frame] = {}
        self.classes: list[ast.ClassDef] = []
        #: Attributes that are assigned or deleted anywhere.
        self.stored: set[str] = set()
        self.has_star_import = False
        self._pending: list[tuple[Frame, str]] = []
        for child in ast.iter_child_nodes(tree):
            self._visit(child, self.module)
        for frame, name in self._pending:
            if name in frame.to_module:
                self.module.bound.add(name)
        for frame, name in self._pending:
            owner = self.module if name in frame.to_module else frame.parent.owner(name) if frame.parent else None
            self.rebound.add((owner, name))

    def _visit(self, node: ast.AST, frame: Frame) -> None:
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)):
            self.home[node] = frame
        if isinstance(node, CALLABLES):
            self._visit_function(node, frame)
        elif isinstance(node, ast.ClassDef):
            self.classes.append(node)
            frame.bound.add(node.name)
            for outside in (*node.decorator_list, *node.bases, *(word.value for word in node.keywords)):
                self._visit(outside, frame)
            inner = self.of[node] = Frame(node, frame)
            for child in node.body:
                self._visit(child, inner)
        elif isinstance(node, COMPREHENSIONS):
            self._visit_comprehension(node, frame)
        elif isinstance(node, ast.NamedExpr):
            holder = frame
            while isinstance(holder.node, COMPREHENSIONS) and holder.parent is not None:
                holder = holder.parent
            holder.bound.add(node.target.id)
            frame.used.add(node.target.id)
            self._visit(node.value, frame)
        else:
            frame.bound.update(_names_bound_by(node))
            self._note(node, frame)
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                frame.outer.update(node.names)
                frame.to_module.update(node.names if isinstance(node, ast.Global) else ())
                self._pending += [(frame, name) for name in node.names]
            for below in ast.iter_child_nodes(node):
                self._visit(below, frame)

    def _note(self, node: ast.AST, frame: Frame) -> None:
        if isinstance(node, ast.Name):
            frame.used.add(node.id)
        elif isinstance(node, (ast.Yield, ast.YieldFrom)):
            frame.yields = True
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            self.stored.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            self.has_star_import = self.has_star_import or any(item.name == "*" for item in node.names)

    def _visit_function(self, node: Callable, frame: Frame) -> None:
        if not isinstance(node, ast.Lambda):
            frame.bound.add(node.name)
            for outside in (*node.decorator_list, node.returns):
                if outside is not None:
                    self._visit(outside, frame)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self._visit(default, frame)
        inner = self.of[node] = Frame(node, frame)
        inner.bound.update(item.arg for item in parameters(node.args))
        body: list[ast.AST] = [*node.body] if isinstance(node.body, list) else [node.body]
        for statement in body:
            self._visit(statement, inner)

    def _visit_comprehension(self, node: Comprehension, frame: Frame) -> None:
        self._visit(node.generators[0].iter, frame)
        inner = self.of[node] = Frame(node, frame)
        for index, part in enumerate(node.generators):
            self._visit(part.target, inner)
            for child in (*((part.iter,) if index else ()), *part.ifs):
                self._visit(child, inner)
        for child in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self._visit(child, inner)


def parameters(given: ast.arguments) -> list[ast.arg]:
    """Return all parameters of a function, those that take the rest included."""
    rest = [item for item in (given.vararg, given.kwarg) if item is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]


def _names_bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds itself, without its children."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for item in node.names:
            yield item.asname or item.name.partition(".")[0]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
