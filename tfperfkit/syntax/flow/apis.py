"""Calls of APIs, as the table of effects describes them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfperfkit.syntax.bindings import Callable, parameters
from tfperfkit.syntax.effects import ACTIVE_TYPES, Effect
from tfperfkit.syntax.flow.classes import get_decorators
from tfperfkit.syntax.flow.functions import Functions
from tfperfkit.syntax.flow.objects import CONTAINERS
from tfperfkit.syntax.flow.values import ATOM, ELEMENTS, EVERY, IMMUTABLE, NONE, NOTHING, Value, replace
from tfperfkit.syntax.flow.widths import find_width

#: Functions that call another one with one element of each other argument.
_GIVES_ELEMENTS = frozenset(
    {f"builtins.{name}" for name in ("map", "filter", "sorted", "min", "max")}
    | {f"itertools.{name}" for name in ("dropwhile", "filterfalse", "groupby", "takewhile")}
    | {"list.sort"}
)
#: Keyword arguments by which a function of NumPy writes to another argument.
_OVERWRITES = frozenset({"overwrite_input", "copy", "inplace", "where"})
#: The same of methods of arrays and tables.
_WRITES_TO = frozenset({"out", "copy", "inplace"})
_ARRAYS = ("ndarray.", "frame.", "sparse.")


class ApiCalls(Functions):
    """Notes what calls of known APIs read, change and return."""

    def _trains(self, node: ast.Call) -> bool:
        """Return whether a model is called as in training, in which layers draw at random and change."""
        return any(
            word.arg in ("training", None) and not (isinstance(word.value, ast.Constant) and word.value.value is False)
            for word in node.keywords
        )

    def _call_api(self, node: ast.Call, callee: Value, effect: Effect, name: str) -> Value:
        """Call what the table of effects has."""
        values = self._values(node)
        owner = replace(callee, type=callee.api.partition(".")[0], api="") if callee.type == "method" else None
        everything = [*([owner] if owner is not None else []), *values]
        active = owner is not None and owner.type in ACTIVE_TYPES and self._is_active(owner)
        if (
            active
            or self.may_run_code(*everything)
            or (owner is not None and owner.type == "layer" and self._trains(node))
            or (name.startswith("numpy.") and any(word.arg in _OVERWRITES for word in node.keywords))
            or (callee.api.startswith(_ARRAYS) and any(word.arg in _WRITES_TO for word in node.keywords))
        ):
            return self.call_unknown(node, *everything)
        functions = [value for value in values if value.code is not None or value.instance is not None]
        if functions and "calls" in effect.kinds:
            if not self._call_given(node, functions, values, callee.api if owner is not None else name):
                return self.call_unknown(node, *everything)
        elif any(value.code is not None for value in values) and "collects:list" not in effect.kinds:
            if effect.result not in ACTIVE_TYPES:
                return self.call_unknown(node, *everything)
        elif "calls" in effect.kinds and any(not value.type and not value.api for value in values):
            return self.call_unknown(node, *everything)  # one of them may be a function
        varies = any(self.heap.varies_deeply(value) for value in everything) and self.iterating
        for value in everything:
            self.read_deeply(value) if not effect.collects or value is not owner else None
        varies = self._do(node, effect, owner, values, varies) or varies
        result = self._result(node, effect, owner, values).with_variation(varies and self.iterating)
        differ = [*map(self.heap.varies_deeply, values)]
        wide = self.iterating and owner is None and find_width(name, node, values, differ)
        return replace(result, width=wide) if result.width != wide else result

    def _call_given(self, node: ast.Call, functions: Sequence[Value], values: Sequence[Value], name: str) -> bool:
        """Follow the functions that a call is given, with elements of the other arguments; False if one is unclear."""
        if any(value.code is None for value in functions):
            return False
        others = [value for value in values if value.code is None]
        element = NOTHING
        elements_only = name in _GIVES_ELEMENTS or name.startswith(("dataset.", "shuffled."))
        for value in others:
            element = self.heap.join(element, self.element(value, node))
            if not elements_only:
                element = self.heap.join(element, value)
        if name.startswith(("dataset.", "shuffled.")):
            element = Value(type="tensor", varies=any(map(self.heap.varies_deeply, others)) and self.iterating)
        if name == "list.sort":
            element = (
                self.element(self.evaluate(node.func.value), node) if isinstance(node.func, ast.Attribute) else element
            )
        count = len(others) if name == "builtins.map" else 1 if name in _GIVES_ELEMENTS else None
        if element.region is not None:
            element = replace(element, varies=any(map(self.heap.varies_deeply, others)) and self.iterating)
        results = NOTHING

        def run() -> None:
            nonlocal results
            for value in functions:
                if value.code is not None:
                    arguments = self._arguments_of_given(value.code.node, element, count)
                    first = [*value.code.node.args.posonlyargs, *value.code.node.args.args][:1]
                    if value.code.bound is not None and first:
                        arguments[first[0].arg] = value.code.bound
                    if "?" in get_decorators(value.code.node) or isinstance(value.code.node, ast.AsyncFunctionDef):
                        results = self.call_unknown(node, value, element)
                    else:
                        results = self.heap.join(
                            results, self.run_function(node, value.code.node, arguments, value.varies)
                        )

        self.repeat(run)
        self.handed = results
        return True

    def _arguments_of_given(self, function: Callable, element: Value, count: int | None) -> dict[str, Value]:
        """Return the arguments of a function that is called with so many elements; None if their number is not
        known."""
        given = function.args
        arguments = {item.arg: element for item in parameters(given)}
        names = [*given.posonlyargs, *given.args]
        if count is not None:
            pairs = [
                *zip(names[::-1], given.defaults[::-1], strict=False),
                *zip(given.kwonlyargs, given.kw_defaults, strict=True),
            ]
            for item, default in pairs:
                if default is not None and item not in names[:count]:
                    arguments[item.arg] = self._default(default)
        return arguments

    handed: Value = NOTHING

    def _do(self, node: ast.Call, effect: Effect, owner: Value | None, values: Sequence[Value], varies: bool) -> bool:
        """Note what an API changes; return whether its result varies for that."""
        kinds = effect.kinds
        result = False
        if effect.collects and owner is not None:
            slot = EVERY if effect.collects == "lines" else ELEMENTS
            for value in values:
                parts = self.element(value, node) if "consumes" in kinds else value
                self.write(owner, slot, parts.with_variation(varies and value.varies), f"collect:{effect.collects}")
            if not values:
                self.write(owner, slot, ATOM, f"collect:{effect.collects}")
        if "changes" in kinds and owner is not None:
            self._change(owner, values, varies)
        for index in effect.changes_arguments:
            if index < len(values):
                self._change(values[index], [], varies)
        out = next((self.given[word.value] for word in node.keywords if word.arg == "out"), None)
        if out is None and effect.out is not None and effect.out < len(node.args):
            out = self.given[node.args[effect.out]]
        if out is not None:
            self._change(out, [], varies)
        if "consumes" in kinds or "takes" in kinds:
            for value in values:
                if value.type in ("iterator", "file", "shuffled", "", "any"):
                    taken = self.element(value, node)
                    result |= taken.varies
        if "draws" in kinds or any(value.type == "shuffled" for value in values):
            self.note(self.random, EVERY, "draw")
            result = True
        if "draws:self" in kinds and owner is not None:
            self.write(owner, EVERY, ATOM.with_variation(varies), "draw")
            result |= self.heap.varies_deeply(owner)
        if "seeds" in kinds:
            self.note(self.random, EVERY, "assign")
        if "reads" in kinds:
            self.note(self.world, "files", "read")
            result = True
        if "writes" in kinds:
            self.note(self.world, "files", "assign")
            result = True
        if "output" in kinds:
            self.note(self.world, "output", "collect:output")
        return result

    def _has_places(self, value: Value) -> bool:
        return value.region is not None and any(slot.startswith("#") for slot in self.heap.find(value.region).slots)

    def _change(self, value: Value, given: Sequence[Value], varies: bool) -> None:
        """Note that an object changes, and may hold what it was given."""
        if value.region is None:
            return
        if value.type in CONTAINERS:
            for item in given or [NOTHING]:
                self.write(value, ELEMENTS, item.with_variation(varies))
                self.write(value, KEYS_OF.get(value.type, ELEMENTS), item.with_variation(varies))
            return
        for item in given or [NOTHING] * self._has_places(value):
            self.write(value, ELEMENTS, item.with_variation(varies))
        self.change_deeply(value, varies)

    def _result(self, node: ast.Call, effect: Effect, owner: Value | None, values: Sequence[Value]) -> Value:
        kind, _, held = effect.result.partition(":")
        if held:
            return self.hold(self.allocate(node, type=kind), self._make_element(node, held))
        if kind == "none":
            return NONE
        if kind in ("atom", "tensor", "range"):
            symbolic = [value for value in values if value.type in ("symbolic", "", "?")] if owner is not None else []
            if kind == "tensor" and owner is not None and owner.type == "layer" and symbolic:
                made = self.allocate(node, type="symbolic", whole=True)
                return self.hold(made, owner, *values)
            return Value(type=kind)
        first = owner if owner is not None else values[0] if values else NOTHING
        if kind == "self":
            return self.hold(replace(first, own=False, key=None), *values)
        if kind == "view":
            if owner is not None:
                return replace(owner, type="ndarray", own=False, key=None)
            arrays = first if first.type == "ndarray" or effect.kinds & {"output"} else NOTHING
            if arrays is NOTHING:
                made = self.allocate(node, type="ndarray")
                return self.hold(
                    made, *(value for value in values if value.type not in ("list", "tuple", "atom", "tensor"))
                )
            return replace(arrays, own=False, key=None)
        if kind in ("element", "total"):
            return self._element_result(node, effect, owner, values)
        if kind == "any":
            made = self.allocate(node, type="", whole=True)
            return self.hold(made, *values, *([owner] if owner is not None else []))
        if kind == "pairs":
            return replace(first, type="pairs", own=first.own, key=None)
        made = self.allocate(node, type=kind, whole=kind in ACTIVE_TYPES and kind != "iterator")
        if kind in CONTAINERS:
            return self._made_container(node, made, effect, owner, values)
        if kind in ACTIVE_TYPES or kind in ("file", "object"):
            self.hold(made, *values, *([owner] if owner is not None else []))
        return made

    def _make_element(self, node: ast.Call, kind: str) -> Value:
        """Return an element of a new container that holds new objects of one type."""
        return Value(type=kind) if kind in IMMUTABLE else self.allocate(node, "held", type=kind)

    def _element_result(self, node: ast.Call, effect: Effect, owner: Value | None, values: Sequence[Value]) -> Value:
        source = owner if owner is not None else values[0] if values else NOTHING
        found = self.read_part(source) if source.type in CONTAINERS else self.element(source, node)
        if effect.result == "total":
            if found.type in ("atom", "tensor"):
                return Value(type=found.type)
            return self.hold(self.allocate(node, type="ndarray" if found.type == "ndarray" else ""), found)
        for value in values if owner is not None else values[1:]:
            if value.code is None:
                found = self.heap.join(found, value)
        return replace(found, own=False, key=None)

    def _made_container(
        self, node: ast.Call, made: Value, effect: Effect, owner: Value | None, values: Sequence[Value]
    ) -> Value:
        sources = [owner] if owner is not None else [value for value in values if value.code is None]
        if "calls" in effect.kinds and made.type == "iterator":
            self.hold(made, self.handed)
        for value in sources:
            if value is None or value.region is None and value.type not in ("atom", "tensor", "range", "none"):
                continue
            if value.type in ("dict", "defaultdict", "pairs") and made.type in ("dict", "list") and owner is not None:
                if "pairs" in (value.type, effect.result):
                    continue
                self.hold(made, self.read_part(value), self.read(value, KEYS_OF["dict"]))
            elif value.type in ("dict", "defaultdict") and made.type == "dict":
                self.hold(made, self.read_part(value))
                self.write(made, KEYS_OF["dict"], self.read(value, KEYS_OF["dict"]))
            else:
                part = self.element(value, node)
                self.hold(made, part)
                if made.type == "dict":
                    inner = self.element(part, node) if part.type in CONTAINERS else part
                    self.hold(made, inner)
                    self.write(made, KEYS_OF["dict"], inner)
        for word in node.keywords:
            if made.type == "dict":
                self.hold(made, self.given[word.value])
                self.write(made, KEYS_OF["dict"], ATOM)
        lazy = any(value.lazy for value in values) or (
            "calls" in effect.kinds and made.type == "iterator" and node not in self.immediate
        )
        return replace(made, lazy=lazy and made.type == "iterator")


KEYS_OF = {"dict": "<keys>", "defaultdict": "<keys>"}
