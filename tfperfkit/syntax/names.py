"""Which function or class of a library an expression of the user's stands for, found through the imports.

``np.random.choice`` is ``numpy.random.choice`` when the file says ``import numpy as np``, and so is ``pick`` after
``from numpy.random import choice as pick``. The name of a call's result is the call's name with "()", the name of an
element is that of the container with "[]": ``rng.choice`` is ``numpy.random.default_rng().choice`` if ``rng =
numpy.random.default_rng(7)``. An instance of a class of the user's that derives from a library's class counts as an
instance of the library's class: ``Net()`` is ``keras.Model()``. How the user names things plays no part, nor where they
keep them: a function in a dictionary, in an attribute or behind ``functools.partial`` is that function. An object that
the file does not make (an argument) is "?": ``?.fit``.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tfperfkit.syntax.contents import Contents
from tfperfkit.syntax.nodes import list_returned
from tfperfkit.syntax.scopes import Binding, Function, Scope, Scopes

UNKNOWN = "?"
_DEEPEST = 16
#: So often one expression may lead through the same name: names that are assigned from each other again and again
#: (``x = x.a()`` twenty times) have more ways through them than can be gone; such a name is unknown.
_MAX_LOOKS = 64
#: And through so many expressions in all: enough for any that people follow by eye.
_MAX_VISITS = 2_000
#: One API under several names.
_SAME = (
    ("tensorflow.compat.v1.", "tensorflow."),
    ("tensorflow.compat.v2.", "tensorflow."),
    ("tensorflow.keras.", "keras."),
    ("tf_keras.", "keras."),
    ("tensorflow.python.keras.", "keras."),
)
#: Wrappers: a call of their result is a call of their first argument; the second ones only for a function of the
#: user's.
_HANDS_ON = ("functools.partial", "functools.cache", "functools.lru_cache", "functools.lru_cache()")
_COMPILES = ("tensorflow.function", "tensorflow.function()")
#: Objects that are what the script stores in them.
_PLAIN_OBJECTS = ("", "builtins.object()", "builtins.type()()", "types.SimpleNamespace()", "argparse.Namespace()")
_WRAP = ("enumerate", "reversed", "sorted", "list", "tuple", "iter", "set", "zip")


class _Value(NamedTuple):
    """A resolved expression. ``made``: the class of the user's that it is, or an instance of."""

    name: str
    made: ast.ClassDef | None = None
    instance: bool = False
    function: Function | None = None


class Names:
    """Meaning of the names in a parsed file; nothing is known about a file whose statements are nested too deeply."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self._is_lost = False
        try:
            self._scopes = Scopes(tree)
        except RecursionError:
            self._scopes, self._is_lost = Scopes(ast.Module([], [])), True
        self._contents = Contents(self._scopes, self._find_api, self._find_class)
        self._names: dict[ast.AST, str] = {}
        self._visits = 0  # of the question that is being answered
        self._looks: Counter[int] = Counter()  # its own too, by the bindings' identity
        self._tangled: set[int] = set()
        self._given: dict[ast.AST, list[ast.expr]] = {}

    def name(self, node: ast.AST) -> str:
        """Return the API that an expression stands for; "" for what is the user's own or is unknown."""
        found = self._names.get(node)
        if found is None:
            self._begin()
            try:
                value = self._value(node, self._scopes.find_scope(node), ())
            except RecursionError:
                value = None
            found = self._names[node] = canonical(value.name) if value is not None else ""
        return found

    def element(self, node: ast.expr, position: int | None = None) -> str:
        """Return the name for the elements that a loop over an expression takes: ``keras.layers.Dense()``,
        ``?.trainable_variables[]``.
        """
        self._begin()
        try:
            value = self._element(node, position, self._scopes.find_scope(node), ())
        except RecursionError:
            value = None
        return canonical(value.name) if value is not None else ""

    def root(self, node: ast.AST) -> ast.AST:
        """Return the leftmost expression: ``a`` for ``a.b[0].c()``."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Await, ast.Starred)):
            node = node.func if isinstance(node, ast.Call) else node.value
        return node

    def is_self(self, node: ast.AST) -> bool:
        """Return whether an expression is the first argument of a method, whatever it is called."""
        return isinstance(node, ast.Name) and any(item.kind == "instance" for item in self._bindings(node))

    def bound_to(self, node: ast.expr) -> list[ast.expr]:
        """Return the expressions that a name, or an attribute of ``self``, is assigned in this file; the expression
        itself for all others."""
        bindings = self._bindings(node)
        found = [item.node for item in bindings if item.kind == "value" and isinstance(item.node, ast.expr)]
        return found if isinstance(node, (ast.Name, ast.Attribute)) else [node]

    def only_bound_to(self, node: ast.expr) -> ast.expr | None:
        """Return the only expression that a name is bound to; None if it is bound otherwise too, or appended to."""
        scope = self._scopes.find_scope(node)
        made = self._contents.find_made(node, scope) if isinstance(node, ast.Name) else None
        if made is None or made.added or len(made.bindings) != 1 or not made.assigned:
            return None
        return made.assigned[0]

    def _bindings(self, node: ast.expr) -> list[Binding]:
        scope = self._scopes.find_scope(node)
        if isinstance(node, ast.Name):
            found = scope.look_up(node.id)
            return found[1] if found is not None else []
        if isinstance(node, ast.Attribute):
            self._begin()
            owner = self._value(node.value, scope, ())
            if owner is not None and owner.made is not None:
                return self._scopes.classes[owner.made].attributes.get(node.attr, [])
        return []

    def _value(self, node: ast.AST | None, scope: Scope, seen: tuple[object, ...]) -> _Value | None:
        self._visits += 1
        if node is None or self._is_lost or len(seen) > _DEEPEST or self._visits > _MAX_VISITS:
            return None
        if isinstance(node, ast.Name):
            return self._of_name(node.id, scope, seen)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node, scope, seen)
        if isinstance(node, ast.Call):
            return self._of_call(node, scope, seen)
        if isinstance(node, ast.Subscript):
            held = self._contents.find_held(node.value, node.slice, scope)
            return self._of_all(held, seen) if held else self._element(node.value, None, scope, seen)
        if isinstance(node, ast.Lambda):
            return _Value("", function=node)
        if isinstance(node, ast.BinOp):
            sides = (self._value(side, scope, seen) for side in (node.left, node.right))
            return next((side for side in sides if side is not None and not side.name.startswith(UNKNOWN)), None)
        if isinstance(node, ast.UnaryOp):
            return self._value(node.operand, scope, seen)
        if isinstance(node, (ast.Await, ast.Starred, ast.NamedExpr)):
            return self._value(node.value, scope, seen)
        if isinstance(node, ast.IfExp):
            return self._find_agreed_value(self._value(side, scope, seen) for side in (node.body, node.orelse))
        return None

    def _find_api(self, node: ast.expr, scope: Scope) -> str:
        found = self._value(node, scope, ())
        return found.name if found is not None else ""

    def _find_class(self, node: ast.expr, scope: Scope) -> ast.ClassDef | None:
        found = self._value(node, scope, ())
        return found.made if found is not None else None

    def _of_name(self, name: str, scope: Scope, seen: tuple[object, ...]) -> _Value | None:
        found = scope.look_up(name)
        if found is None:
            star = next((module for module in self._scopes.module.stars if not hasattr(builtins, name)), None)
            if star is not None:
                return _Value(f"{star}.{name}")
            return _Value(f"builtins.{name}") if hasattr(builtins, name) else None
        where, bindings = found
        return self._of_bindings(bindings, where, seen)

    def _of_bindings(self, bindings: list[Binding], scope: Scope, seen: tuple[object, ...]) -> _Value | None:
        if self._lost_in(bindings):
            return None
        return self._find_agreed_value(self._of_binding(item, scope, seen) for item in bindings if item not in seen)

    def _begin(self) -> None:
        self._visits = 0
        self._looks.clear()

    def _lost_in(self, bindings: list[Binding]) -> bool:
        """Return whether a name with these bindings was looked up too often, now or for an earlier question."""
        if len(bindings) < 2:
            return False
        key = id(bindings)  # the scopes keep these lists
        self._looks[key] += 1
        if self._looks[key] > _MAX_LOOKS:
            self._tangled.add(key)
        return key in self._tangled

    def _of_binding(self, item: Binding, scope: Scope, seen: tuple[object, ...]) -> _Value | None:
        seen = (*seen, item)
        if item.kind == "import":
            return _Value(item.dotted)
        if item.kind == "function" and isinstance(item.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return _Value("", function=item.node)
        if item.kind in ("class", "instance") and isinstance(item.node, ast.ClassDef):
            made = self._class(item.node, seen)
            return (
                made._replace(name=f"{made.name}()" if made.name else "", instance=True)
                if item.kind != "class"
                else made
            )
        if item.node is None:
            return _Value(UNKNOWN) if item.kind == "unknown" else None
        around = self._scopes.find_scope(item.node)
        if item.kind == "element" and isinstance(item.node, ast.expr):
            return self._element(item.node, item.position, around, seen)
        return self._value(item.node, around, seen)

    def _class(self, node: ast.ClassDef, seen: tuple[object, ...]) -> _Value:
        bases = (self._value(base, self._scopes.find_scope(base), seen) for base in node.bases)
        name = next((base.name for base in bases if base is not None and base.name), "")
        return _Value(name, made=node)

    def _of_attribute(self, node: ast.Attribute, scope: Scope, seen: tuple[object, ...]) -> _Value | None:
        owner = self._value(node.value, scope, seen)
        if owner is not None and owner.made is not None:
            own = self._scopes.classes[owner.made].attributes.get(node.attr)
            if own:
                return self._of_bindings(own, self._scopes.module, seen)
        kept = self._find_stored(node, owner, scope, seen)
        if kept is not None:
            return kept
        if owner is None or (not owner.name and owner.made is None and owner.function is None):
            return _Value(f"{UNKNOWN}.{node.attr}")
        return _Value(f"{owner.name}.{node.attr}") if owner.name else _Value(f"{UNKNOWN}.{node.attr}")

    def _of_call(self, node: ast.Call, scope: Scope, seen: tuple[object, ...]) -> _Value | None:
        called = self._value(node.func, scope, seen)
        if called is None:
            return None
        if called.name in (*_HANDS_ON, *_COMPILES) and node.args:
            around = self._value(node.args[0], scope, seen)
            if around is not None and (around.function is not None or called.name in _HANDS_ON):
                return around
        if called.function is not None:
            if called.function in seen:
                return None
            inner = (*seen, called.function)
            given = self._given.get(called.function)
            if given is None:
                given = [item for item in list_returned(called.function) if item is not None]
                self._given[called.function] = given
            return self._find_agreed_value(self._value(back, self._scopes.find_scope(back), inner) for back in given)
        if called.made is not None and not called.instance:
            return called._replace(name=f"{called.name}()" if called.name else "", instance=True)
        if called.name == "super" or called.name == "builtins.super":
            return _Value(UNKNOWN)
        return _Value(f"{called.name}()") if called.name else None

    def _element(self, node: ast.expr, position: int | None, scope: Scope, seen: tuple[object, ...]) -> _Value | None:
        if self._is_lost or len(seen) > _DEEPEST:
            return None
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self._find_agreed_value(self._value(item, scope, seen) for item in node.elts)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self._value(node.elt, scope, seen)
        if isinstance(node, ast.Call):
            called = self._value(node.func, scope, seen)
            word = called.name.removeprefix("builtins.") if called is not None else ""
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("values", "items") and not node.args:
                held = self._contents.find_held(node.func.value, None, scope)
                if held:
                    return self._of_all(held, seen) if node.func.attr == "values" or position == 1 else None
            if word in _WRAP and node.args:
                return self._wrapped(word, node.args, position, scope, seen)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            found = self._stored(node, position, scope, seen)
            if found is not None:
                return found
        value = self._value(node, scope, seen)
        return _Value(f"{value.name}[]") if value is not None and value.name else None

    def _wrapped(
        self, word: str, given: Sequence[ast.expr], position: int | None, scope: Scope, seen: tuple[object, ...]
    ) -> _Value | None:
        if word == "enumerate":
            return None if position == 0 else self._element(given[0], None, scope, seen)
        if word == "zip":
            if position is not None:
                return self._element(given[position], None, scope, seen) if position < len(given) else None
            return self._find_agreed_value(self._element(item, None, scope, seen) for item in given)
        return self._element(given[0], position, scope, seen)

    def _of_all(self, nodes: Sequence[ast.expr], seen: tuple[object, ...]) -> _Value | None:
        return self._find_agreed_value(
            self._value(item, self._scopes.find_scope(item), (*seen, item)) for item in nodes if item not in seen
        )

    def _find_stored(
        self, node: ast.Attribute, owner: _Value | None, scope: Scope, seen: tuple[object, ...]
    ) -> _Value | None:
        """Find what the script itself stores in an attribute of an object."""
        if not isinstance(node.value, ast.Name) or (owner is not None and owner.name not in _PLAIN_OBJECTS):
            return None
        bindings = self._contents.find_fields(node, scope)
        found = self._of_bindings(bindings, scope, seen) if bindings else None
        if found is None and owner is not None and owner.name in ("types.SimpleNamespace()", "argparse.Namespace()"):
            return self._of_all(self._contents.find_held(node.value, ast.Constant(node.attr), scope), seen)
        return found

    def _stored(
        self,
        node: ast.Name | ast.Attribute | ast.Subscript,
        position: int | None,
        scope: Scope,
        seen: tuple[object, ...],
    ) -> _Value | None:
        """List the expressions that a list under this name was made from, or that were added to the list."""
        made = self._contents.find_made(node, scope)
        if self._lost_in(made.bindings):
            return None
        values: list[_Value | None] = [
            self._value(item, self._scopes.find_scope(item), (*seen, item)) for item in made.added if item not in seen
        ]
        for item in made.assigned:
            if item not in seen:
                values.append(self._element(item, position, self._scopes.find_scope(item), (*seen, item)))
        return self._find_agreed_value(values)

    @staticmethod
    def _find_agreed_value(values: Iterator[_Value | None] | Sequence[_Value | None]) -> _Value | None:
        """Return the value that all agree on; the unknown don't count."""
        known = [value for value in values if value is not None]
        certain = [value for value in known if value.name != UNKNOWN]
        if not certain:
            return known[0] if known else None
        return certain[0] if all(value == certain[0] for value in certain) else None


@lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """One name for an API that has several."""
    for old, new in _SAME:
        if name.startswith(old):
            return canonical(new + name[len(old) :])
    return name
