"""Contents of the user's containers: dictionaries, lists, attributes of plain objects.

``HEADS["age"]`` is what the file stores under that key, ``state.model`` what it stores in that attribute, wherever it
does so. A value stored under a computed key may be any of the items.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from tfperfkit.syntax.scopes import Binding, Scope, Scopes

#: Functions that keep their keyword arguments.
_KEEPS_WORDS = ("builtins.dict", "collections.OrderedDict", "types.SimpleNamespace", "argparse.Namespace")
_DEEPEST = 8


class Made(NamedTuple):
    """``bindings`` of a name, an attribute or an item; ``added``: the expressions that are appended to it."""

    bindings: list[Binding]
    added: list[ast.expr]

    @property
    def assigned(self) -> list[ast.expr]:
        """Return the expressions that it is assigned."""
        return [item.node for item in self.bindings if item.kind == "value" and isinstance(item.node, ast.expr)]


class Contents:
    """``api``: the name of the API that an expression stands for; ``made``: the class that it is an instance of."""

    def __init__(
        self,
        scopes: Scopes,
        api: Callable[[ast.expr, Scope], str],
        made: Callable[[ast.expr, Scope], ast.ClassDef | None],
    ) -> None:
        self._scopes = scopes
        self._api = api
        self._made = made

    def find_held(
        self, container: ast.expr, key: ast.expr | None, scope: Scope, met: tuple[ast.expr, ...] = ()
    ) -> list[ast.expr]:
        """Find what a dictionary or a list of the user's holds under a key; all that it holds if the key is None or is
        computed."""
        others: list[ast.expr] = []
        found: list[ast.expr] = []
        if container in met or len(met) > _DEEPEST:
            return []
        if isinstance(container, ast.Dict):
            pairs = list(zip(container.keys, container.values, strict=True))
            others = [value for each, value in pairs if each is None]
            found = [value for each, value in pairs if each is not None and _is_key(each, key)]
        elif isinstance(container, ast.DictComp):
            found = [container.value]
        elif isinstance(container, (ast.List, ast.Tuple)):
            place = key.value if isinstance(key, ast.Constant) and isinstance(key.value, int) else len(container.elts)
            found = container.elts[place : place + 1]
        elif isinstance(container, ast.Call) and self._api(container.func, scope) in _KEEPS_WORDS:
            words = container.keywords
            found = [word.value for word in words if word.arg is not None and _is_key(ast.Constant(word.arg), key)]
            others = [*container.args, *(word.value for word in words if word.arg is None)]
        elif isinstance(container, (ast.Name, ast.Attribute)):
            home, name = self._find_home(container, scope)
            stored = home.items.get(name, ()) if home is not None else ()
            others = self.find_made(container, scope).assigned
            found = [value for each, value in stored if _is_key(each, key)]
        for other in others:
            found += self.find_held(other, key, self._scopes.find_scope(other), (*met, container))
        return found

    def find_made(self, node: ast.expr, scope: Scope) -> Made:
        """Find what a name, an attribute or an item of the user's was assigned, and what was appended to it."""
        if isinstance(node, ast.Subscript):
            held = [Binding("value", item) for item in self.find_held(node.value, node.slice, scope)]
            return Made(held, self._find_grown(node, scope))
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return Made([], [])
        home, name = self._find_home(node, scope)
        if home is None:
            return Made(self.find_fields(node, scope), self._find_grown(node, scope))
        if isinstance(node, ast.Attribute):
            return Made(home.attributes.get(name, []), home.added.get(name, []))
        own = home.added.get(name, []) if home is not scope else []
        return Made(home.names[name], [*scope.added.get(name, ()), *own])

    def find_fields(self, node: ast.expr, scope: Scope) -> list[Binding]:
        """Find what the file stores in an attribute of a plain object."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return []
        found = scope.look_up(node.value.id)
        return found[0].fields.get((node.value.id, node.attr), []) if found is not None else []

    def _find_home(self, node: ast.Name | ast.Attribute, scope: Scope) -> tuple[Scope | None, str]:
        """Find the scope that binds a name, or the class that binds an attribute of its instance."""
        if isinstance(node, ast.Name):
            found = scope.look_up(node.id)
            return (found[0] if found is not None else None), node.id
        made = self._made(node.value, scope)
        return (self._scopes.classes[made] if made is not None else None), node.attr

    def _find_grown(self, node: ast.expr, scope: Scope) -> list[ast.expr]:
        """Find what is appended to an item, or to an attribute of a plain object."""
        if not isinstance(node, (ast.Subscript, ast.Attribute)) or not isinstance(node.value, ast.Name):
            return []
        found = scope.look_up(node.value.id)
        grown = found[0].grown.get(node.value.id, []) if found is not None else []
        return [value for target, value in grown if _is_same_place(target, node)]


def _is_same_place(one: ast.expr, other: ast.expr) -> bool:
    if isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute):
        return one.attr == other.attr
    return isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript) and _is_key(one.slice, other.slice)


def _is_key(node: ast.expr, key: ast.expr | None) -> bool:
    """Return whether an item under this key may be the one that is asked for."""
    return not (isinstance(node, ast.Constant) and isinstance(key, ast.Constant)) or node.value == key.value
