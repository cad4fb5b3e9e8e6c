"""Calls: decides what is called, and follows the user's classes and functions that return functions."""

from __future__ import annotations

import ast

from tfperfkit.syntax.effects import ACTIVE_TYPES, Effect, find_effect
from tfperfkit.syntax.flow.apis import ApiCalls
from tfperfkit.syntax.flow.objects import canonical_api, get_table_type
from tfperfkit.syntax.flow.state import Undecided
from tfperfkit.syntax.flow.values import ATOM, ELEMENTS, NONE, NOTHING, Code, Value, replace

#: Functions that return the function that they are given, to be called in the same way.
_KEEPS_FUNCTION = frozenset({"tensorflow.function", "tensorflow.autograph.experimental.do_not_convert"})
#: Functions that may run, read or bind anything of the file.
HIDDEN = frozenset(
    {f"builtins.{name}" for name in ("exec", "eval", "globals", "locals", "vars", "__import__", "compile")}
)


class Calls(ApiCalls):
    """Follows calls."""

    def call(self, node: ast.Call) -> Value:
        """Return what a call returns, and note what it does."""
        if isinstance(node.func, ast.Attribute) and _is_super(node.func.value):
            return self._call_super(node, node.func.attr)
        callee = self.evaluate(node.func)
        name = canonical_api(callee.api) if callee.api and callee.type != "method" else ""
        if name in HIDDEN:
            raise Undecided(name)
        effect = find_effect(callee.api if callee.type == "method" else name) if callee.api else None
        if effect is not None and "consumes" in effect.kinds:
            self.immediate.update(item for item in node.args if isinstance(item, (ast.GeneratorExp, ast.Call)))
        for item in (*node.args, *(word.value for word in node.keywords)):
            expression = item.value if isinstance(item, ast.Starred) else item
            self.given[item] = self.given[expression] = self.evaluate(expression)
        known = self.known.get(node)
        if known is not None and callee.code is None and callee.made is None and effect is None:
            return self._call_known(node, callee, known)
        return self.call_value(node, callee, name, effect)

    def call_value(self, node: ast.Call, callee: Value, name: str = "", effect: Effect | None = None) -> Value:
        """Call a value with the arguments of a call, which are evaluated."""
        if callee is NOTHING:
            return NOTHING
        if callee.code is not None:
            return self.call_code(node, callee.code, node, callee.varies)
        if callee.made is not None:
            return self._construct(node, callee.made)
        if name in _KEEPS_FUNCTION:
            return self._keep_function(node)
        special = self._call_special(node, name)
        if special is not None:
            return special
        if effect is not None:
            return self._call_api(node, callee, effect, name)
        if callee.instance is not None:
            return self._call_instance(node, callee)
        if callee.type and not callee.api:
            effect = find_effect(f"{get_table_type(callee.type)}.__call__")
            if effect is not None:
                return self._call_api(node, replace(callee, type="method", api=f"{callee.type}.__call__"), effect, "")
        return self.call_unknown(node, callee, *self._values(node))

    def _call_known(self, node: ast.Call, callee: Value, name: str) -> Value:
        """Call what the run has shown to be an API: ``layer.__call__``."""
        effect = find_effect(name)
        if effect is None:
            return self.call_unknown(node, callee, *self._values(node))
        if callee.region is not None and self.heap.find(callee.region) is self.heap.find(self.outside):
            callee = replace(callee, region=self.allocate(node, "known", whole=True).region)
            self.heap.age(callee.region)
        return self._call_api(node, replace(callee, type="method", api=name), effect, "")

    # The user's classes

    def find_outside_object(self, made: object) -> Value | None:
        """Return the object that stands for all that other files make of a class; None if the class hides what
        attributes mean, or if the file derives another class from it."""
        derived = any(base.made is made for bases in self.bases.values() for base in bases)
        kind = self._find_kind(made) if isinstance(made, ast.ClassDef) and not derived else "?"
        if not isinstance(made, ast.ClassDef) or kind == "?":
            return None
        return replace(self.allocate(made, "outside", type=kind), instance=made, own=False)

    def _find_kind(self, made: ast.ClassDef) -> str:
        """Return the type of a class's objects in the table of effects; "?" if the class is not plain."""
        lineage = self.lineage(made)
        decorators = {
            getattr(item, "attr", getattr(item, "id", "?")) for item in map(_undecorated, made.decorator_list)
        }
        if lineage is None or not all(info.plain for info in lineage[0]) or decorators - {"dataclass"}:
            return "?"
        return next((found for api in lineage[1] if (found := self._instance_type(api)) != "object"), "object")

    def _construct(self, node: ast.Call, made: ast.ClassDef) -> Value:
        kind, lineage = self._find_kind(made), self.lineage(made)
        if kind == "?" or lineage is None:
            self.heap.escape(Value(instance=made))
            return self.call_unknown(node, *self._values(node))
        value = replace(self.allocate(node, type=kind), instance=made)
        try:
            init = self.find_method(made, "__init__")
        except LookupError:
            return self.call_unknown(node, *self._values(node))
        if init is not None:
            self.call_code(node, Code(init, value), node, False)
        elif made.decorator_list:  # @dataclass
            fields = [name for info in reversed(lineage[0]) for name in info.fields]
            for index, item in enumerate(node.args):
                for name in fields if isinstance(item, ast.Starred) else fields[index : index + 1]:
                    self.write(value, name, self.given[item])
            for word in node.keywords:
                for name in [word.arg] if word.arg is not None else fields:
                    self.write(value, name, self.given[word.value])
        else:
            self.hold(value, *self._values(node))
        return value

    def _instance_type(self, api: str) -> str:
        name = canonical_api(api)
        if name in ("builtins.object", "abc.ABC", "typing.Protocol", "typing.Generic"):
            return "object"
        if name == "tensorflow.Module":
            return "module"
        effect = find_effect(name)
        return effect.result if effect is not None and effect.result in ACTIVE_TYPES | {"module"} else "?"

    def _call_instance(self, node: ast.Call, callee: Value) -> Value:
        """Call an object of a class of the user."""
        names = ("__call__", "call") if callee.type == "layer" else ("__call__",)
        if callee.instance is not None:
            for name in names:
                try:
                    method = self.find_method(callee.instance, name)
                except LookupError:
                    break
                if method is not None and not self._trains(node):
                    return self.call_code(node, Code(method, callee), node, callee.varies)
        return self.call_unknown(node, callee, *self._values(node))

    def _call_super(self, node: ast.Call, name: str) -> Value:
        for item in (*node.args, *(word.value for word in node.keywords)):
            expression = item.value if isinstance(item, ast.Starred) else item
            self.given[item] = self.given[expression] = self.evaluate(expression)
        frame = self.frame
        while frame.parent is not None and not frame.parent.is_class:
            frame = frame.parent
        owner = frame.parent.node if frame.parent is not None else None
        if not isinstance(owner, ast.ClassDef) or not isinstance(frame.node, (ast.FunctionDef, ast.Lambda)):
            return self.call_unknown(node, *self._values(node))
        first = [*frame.node.args.posonlyargs, *frame.node.args.args][:1]
        bound = self.value_of((frame, first[0].arg)) if first else self.unknown_value()
        for base in self.bases.get(owner, ()):
            if base.made is not None:
                try:
                    method = self.find_method(base.made, name)
                except LookupError:
                    break
                if method is not None:
                    return self.call_code(node, Code(method, bound), node, False)
        lineage = self.lineage(owner)
        if name == "__init__" and lineage is not None and all(self._instance_type(api) != "?" for api in lineage[1]):
            return self.hold(bound, *self._values(node)) and NONE
        return self.call_unknown(node, bound, *self._values(node))

    # APIs

    def _keep_function(self, node: ast.Call) -> Value:
        values = [self.given[item] for item in node.args]
        if len(values) == 1 and values[0].code is not None:
            return values[0]
        if not values:
            return Value(api="tensorflow.function")
        return self.call_unknown(node, *values)

    def _call_special(self, node: ast.Call, name: str) -> Value | None:
        if name == "builtins.getattr":
            return self._call_getattr(node)
        if name == "builtins.setattr":
            return self._call_setattr(node)
        if name == "collections.defaultdict" and node.args:
            return self._make_defaultdict(node)
        if name in ("builtins.max", "builtins.min") and len(node.args) > 1 and not node.keywords:
            result = NOTHING
            values = self._values(node)
            if self.may_run_code(*values):
                return self.call_unknown(node, *values)
            for value in values:
                self.read_deeply(value)
                result = self.heap.join(result, value)
            return replace(
                result, own=False, key=None, varies=any(map(self.heap.varies_deeply, values)) and self.iterating
            )
        if name in ("builtins.zip", "builtins.enumerate"):
            return self._make_pairs(node, name)
        if name == "builtins.range":
            return Value(type="range", varies=any(map(self.heap.varies_deeply, self._values(node))) and self.iterating)
        return None

    def _call_getattr(self, node: ast.Call) -> Value:
        values = self._values(node)
        name = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else None
        if not isinstance(name, str):
            return self.call_unknown(node, *values)
        found = self.load_attribute(values[0], name, node)
        return self.heap.join(found, values[2]) if len(values) > 2 else found

    def _call_setattr(self, node: ast.Call) -> Value:
        values = self._values(node)
        name = node.args[1].value if len(node.args) == 3 and isinstance(node.args[1], ast.Constant) else None
        if not isinstance(name, str) or node.keywords:
            return self.call_unknown(node, *values)
        self.store_attribute(values[0], name, values[2], node)
        return NONE

    def _make_defaultdict(self, node: ast.Call) -> Value:
        value = self.allocate(node, type="defaultdict")
        factory = self.given[node.args[0]]
        held = NOTHING
        if factory.api in ("builtins.int", "builtins.float", "builtins.str", "builtins.bool"):
            held = ATOM
        elif factory.api in ("builtins.list", "builtins.dict", "builtins.set"):
            held = self.allocate(node, "held", type=factory.api.rpartition(".")[2])
            self.heap.age(held.region)  # made at any later time
        elif isinstance(node.args[0], ast.Lambda) and isinstance(node.args[0].body, ast.Constant):
            held = ATOM
        else:
            return self.call_unknown(node, *self._values(node))
        return self.hold(value, held, *(self.given[item] for item in node.args[1:]))

    def _make_pairs(self, node: ast.Call, name: str) -> Value:
        result = self.allocate(node, type="iterator")
        pair = self.allocate(node, "pair", type="tuple")
        if any(isinstance(item, ast.Starred) for item in node.args):
            parts = [self.element(self.element(self.given[item], node), node) for item in node.args]
            return self.hold(result, self.hold(pair, *parts))
        parts = [
            self.element(self.given[item], node) for item in node.args[: 1 if name == "builtins.enumerate" else None]
        ]
        if name == "builtins.enumerate":
            parts = [ATOM, *parts]
        for index, part in enumerate(parts):
            self.write(pair, f"#{index}", part)
        varies = any(self.heap.varies_deeply(value) for value in self._values(node)) and self.iterating
        self.write(result, ELEMENTS, pair.with_variation(varies))
        lazy = any(value.lazy for value in self._values(node))
        return replace(result, lazy=lazy).with_variation(varies)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args


def _undecorated(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node
