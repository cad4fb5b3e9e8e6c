"""The scopes of a parsed file and what each binds a name to: an import, a value, an element of something, a definition.

Only what can be read off the tree is kept. A name that a function is given by its caller is bound to nothing known.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, eq=False)
class Binding:
    """``value``: the expression ``node``; ``element``: an element of the expression, or the element's ``position``th
    part if a loop takes tuples apart; ``import``: the module or name ``dotted``; ``instance``: the first argument of a
    method of the class ``node``; ``unknown``: a value that a caller passes.
    """

    kind: Literal["import", "value", "element", "function", "class", "instance", "unknown"]
    node: ast.AST | None = None
    dotted: str = ""
    position: int | None = None


@dataclass(eq=False)
class Scope:
    """``names`` are bound here; ``added`` are expressions appended to a list of that name; ``items`` are (key, value)
    stored in a dictionary or list of that name, ``fields`` are bound to attributes of an object of that name.

    For a class, these are keyed by the names of attributes. ``grown``: what is appended to an item, or to an attribute
    of an object, of that name.
    """

    node: ast.AST
    parent: Scope | None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    added: dict[str, list[ast.expr]] = field(default_factory=dict)
    items: dict[str, list[tuple[ast.expr, ast.expr]]] = field(default_factory=dict)
    fields: dict[tuple[str, str], list[Binding]] = field(default_factory=dict)
    grown: dict[str, list[tuple[ast.Subscript | ast.Attribute, ast.expr]]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    #: For a class: the attributes of the instance that its methods and its body bind.
    attributes: dict[str, list[Binding]] = field(default_factory=dict)

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    def bind(self, name: str, binding: Binding) -> None:
        self.names.setdefault(name, []).append(binding)

    def look_up(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """Return the scope that binds a name as Python finds it: classes around a function are passed over."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.names and (first or not scope.is_class):
                return scope, scope.names[name]
            scope, first = scope.parent, False
        return None


class Scopes(ast.NodeVisitor):
    """Walks a tree once. ``of`` gives the scope of a node, ``classes`` that of a class's body."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(tree, None)
        self.classes: dict[ast.ClassDef, Scope] = {}
        self._of: dict[ast.AST, Scope] = {}
        self._scope = self.module
        #: Stores into what a name stands for, which may be bound further below: (scope, name, what to do there).
        self._stores: list[tuple[Scope, str, ast.Subscript | ast.Attribute, ast.expr]] = []
        self.visit(tree)
        for scope, name, target, value in self._stores:
            found = scope.look_up(name)
            if found is not None and isinstance(target.ctx, ast.Load):
                found[0].grown.setdefault(name, []).append((target, value))
            elif found is not None and isinstance(target, ast.Subscript):
                found[0].items.setdefault(name, []).append((target.slice, value))
            elif found is not None and isinstance(target, ast.Attribute):
                found[0].fields.setdefault((name, target.attr), []).append(Binding("value", value))

    def find_scope(self, node: ast.AST) -> Scope:
        return self._of.get(node, self.module)

    def visit(self, node: ast.AST) -> None:
        self._of[node] = self._scope
        super().visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for item in node.names:
            top = item.name.partition(".")[0]
            dotted = item.name if item.asname else top
            self._scope.bind(item.asname or top, Binding("import", node, dotted))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for item in node.names:
            if node.level or node.module is None:  # of the user's own package
                self._scope.bind(item.asname or item.name, Binding("unknown"))
            elif item.name == "*":
                self._scope.stars.append(node.module)
            else:
                self._scope.bind(item.asname or item.name, Binding("import", node, f"{node.module}.{item.name}"))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_definition(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_definition(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._inside(node)

    def _visit_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._scope.bind(node.name, Binding("function", node))
        if self._scope.is_class:
            self._scope.attributes.setdefault(node.name, []).append(Binding("function", node))
        for outside in (*node.decorator_list, node.returns):
            if outside is not None:
                self.visit(outside)
        self._inside(node)

    def _inside(self, node: Function) -> None:
        around, self._scope = self._scope, Scope(node, self._scope)
        given = node.args
        names = [*given.posonlyargs, *given.args]
        method = around.is_class and isinstance(around.node, ast.ClassDef) and not isinstance(node, ast.Lambda)
        for index, item in enumerate(names):
            first = index == 0 and method and not _is_static(node)
            self._scope.bind(item.arg, Binding("instance", around.node) if first else Binding("unknown"))
        for other in (*given.kwonlyargs, given.vararg, given.kwarg):
            if other is not None:
                self._scope.bind(other.arg, Binding("unknown"))
        for default in (*given.defaults, *given.kw_defaults):
            if default is not None:
                self.visit(default)
        for child in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(child)
        self._scope = around

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scope.bind(node.name, Binding("class", node))
        for outside in (*node.decorator_list, *node.bases, *(word.value for word in node.keywords)):
            self.visit(outside)
        around, self._scope = self._scope, Scope(node, self._scope)
        self.classes[node] = self._scope
        for child in node.body:
            self.visit(child)
        self._scope = around

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._assign(target, node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, node.value)
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._assign(node.target, node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and self._scope.look_up(node.target.id) is None:
            self._scope.bind(node.target.id, Binding("unknown"))
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self._loop(node.target, node.iter)
        self.generic_visit(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self._loop(node.target, node.iter)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._loop(node.target, node.iter)
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        self._with(node.items)
        self.generic_visit(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        self._with(node.items)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._scope.bind(node.name, Binding("unknown"))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        added = node.func
        if isinstance(added, ast.Attribute) and added.attr in ("append", "add") and len(node.args) == 1:
            if isinstance(added.value, ast.Name):
                self._scope.added.setdefault(added.value.id, []).append(node.args[0])
            else:
                owner = self._owner(added.value)
                if owner is not None and isinstance(added.value, ast.Attribute):
                    owner.added.setdefault(added.value.attr, []).append(node.args[0])
                elif isinstance(added.value, (ast.Subscript, ast.Attribute)) and isinstance(
                    added.value.value, ast.Name
                ):
                    self._stores.append((self._scope, added.value.value.id, added.value, node.args[0]))
        self.generic_visit(node)

    def _with(self, items: list[ast.withitem]) -> None:
        for item in items:
            if item.optional_vars is not None:
                self._assign(item.optional_vars, item.context_expr)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._scope.bind(target.id, Binding("value", value))
            if self._scope.is_class:
                self._scope.attributes.setdefault(target.id, []).append(Binding("value", value))
        elif isinstance(target, ast.Attribute):
            owner = self._owner(target)
            if owner is not None:
                owner.attributes.setdefault(target.attr, []).append(Binding("value", value))
            elif isinstance(target.value, ast.Name):
                self._stores.append((self._scope, target.value.id, target, value))
        elif isinstance(target, ast.Subscript):
            owner = self._owner(target.value)
            if isinstance(target.value, ast.Name):
                self._stores.append((self._scope, target.value.id, target, value))
            elif owner is not None and isinstance(target.value, ast.Attribute):
                owner.items.setdefault(target.value.attr, []).append((target.slice, value))
        elif isinstance(target, (ast.Tuple, ast.List)):
            given = value.elts if isinstance(value, (ast.Tuple, ast.List)) else None
            for index, item in enumerate(target.elts):
                if given is not None and len(given) == len(target.elts):
                    self._assign(item, given[index])
                else:
                    self._bind_all(item, Binding("element", value))

    def _loop(self, target: ast.expr, over: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for index, item in enumerate(target.elts):
                self._bind_all(item, Binding("element", over, position=index))
        else:
            self._bind_all(target, Binding("element", over))

    def _bind_all(self, target: ast.expr, binding: Binding) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self._scope.bind(node.id, binding)

    def _owner(self, target: ast.expr) -> Scope | None:
        """Return the class whose instance ``self.x`` is an attribute of."""
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
            return None
        found = self._scope.look_up(target.value.id)
        if found is None or found[1][0].kind != "instance":
            return None
        node = found[1][0].node
        return self.classes.get(node) if isinstance(node, ast.ClassDef) else None


def _is_static(node: Function) -> bool:
    return any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in getattr(node, "decorator_list", ()))
