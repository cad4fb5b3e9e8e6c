"""Reading and changing objects: attributes, elements, what a loop goes over."""

from __future__ import annotations

import ast

from tfperfkit.syntax.bindings import Callable, Frames
from tfperfkit.syntax.effects import find_effect
from tfperfkit.syntax.flow.classes import Classes, ClassInfo, get_decorators
from tfperfkit.syntax.flow.state import State, Undecided
from tfperfkit.syntax.flow.values import ATOM, ELEMENTS, EVERY, IMMUTABLE, NOTHING, Code, Key, Region, Value, replace
from tfperfkit.syntax.flow.widths import is_last
from tfperfkit.syntax.names import canonical

KEYS = "<keys>"
#: Types whose elements are kept apart from the objects themselves.
CONTAINERS = frozenset({"list", "tuple", "set", "dict", "defaultdict", "iterator"})
#: Types of which nothing that the user wrote runs when they are used by an operator or a builtin.
BUILTIN_TYPES = CONTAINERS | IMMUTABLE | {"ndarray", "variable", "range", "pairs", "pair", "rng", "tape"}
#: Going through these uses them up, or gives something else each time.
_ONCE = frozenset({"iterator", "file", "shuffled", "", "any"})


class Objects(State):
    """Contents of the objects of a file."""

    def __init__(self, frames: Frames, classes: Classes) -> None:
        super().__init__(frames)
        self.classes = classes
        self.class_regions: dict[ast.ClassDef, Region] = {}
        self.bases: dict[ast.ClassDef, list[Value]] = {}

    # Classes

    def lineage(self, node: ast.ClassDef) -> tuple[list[ClassInfo], list[str]] | None:
        """Return the classes of the user that a class is made of, and the API names of the others; None if a base is
        unknown."""
        infos, apis = [self.classes.of[node]], []
        for base in self.bases.get(node, ()):
            if base.made is not None and base.made is not node and len(infos) < 16:
                above = self.lineage(base.made)
                if above is None:
                    return None
                infos += above[0]
                apis += above[1]
            elif base.api:
                apis.append(base.api)
            else:
                return None
        return infos, apis

    def find_method(self, node: ast.ClassDef, name: str) -> Callable | None:
        """Return the method that an object of a class has under a name; None if there is none. Raises ``LookupError``
        if that is not certain."""
        lineage = self.lineage(node)
        if lineage is None or not all(info.plain for info in lineage[0]):
            raise LookupError(name)
        for info in lineage[0]:
            if name in info.unclear or (name in info.methods and name in self.classes.stored):
                raise LookupError(name)
            if name in info.methods:
                return info.methods[name]
        return None

    def class_region(self, node: ast.ClassDef) -> Region:
        """Return the region of a class's own attributes."""
        if node not in self.class_regions:
            self.class_regions[node] = self.heap.make()
            self.class_regions[node].old = self.iterating
        return self.class_regions[node]

    def may_run_code(self, *values: Value) -> bool:
        """Return whether an operator or a builtin may run code of the user, or of objects that are not known, for a
        value."""
        if not self.classes.operators:
            return False
        return any(self._has_operators(value) for value in values)

    def _has_operators(self, value: Value) -> bool:
        if value.region is None or value.type in ("rng", "layer", "optimizer", "method"):
            return False
        held = [value, *(item for region in self.heap.reach(value.region) for item in region.slots.values())]
        for item in held:
            if item.instance is not None:
                lineage = self.lineage(item.instance)
                if lineage is None or any(self.classes.operators & info.methods.keys() for info in lineage[0]):
                    return True
            elif item.type not in BUILTIN_TYPES and not item.api and not item.code and not item.made:
                return True
        return any(region.code and region.whole for region in self.heap.reach(value.region))

    # Reading and writing

    def write(self, base: Value, slot: str, value: Value, how: str = "assign", key: Key | None = None) -> None:
        """Put a value into a slot of the objects that ``base`` refers to."""
        if base.region is None:
            return
        if self.iterating and (value.code is not None or value.lazy):
            self.doubt("a function is kept")
        self.heap.store(base.region, slot, value)
        if not self.iterating:
            return
        own = self.is_own(base)
        if value.varies or self.control or base.varies or not own:
            self.heap.vary(base.region, slot)
        if not own:
            self.note(base.region, slot, how, key)

    def read(self, base: Value, slot: str, key: Key | None = None) -> Value:
        """Return what a slot of the objects that ``base`` refers to holds."""
        if base.region is None:
            return replace(ATOM, varies=base.varies, type="")
        if not self.is_own(base):
            self.note(base.region, slot, "read", key)
        value = self.heap.load(base.region, slot)
        varies = base.varies or self.heap.is_varying(base.region, slot)
        if self.iterating and value.type == "?":
            value = replace(value, type="")
        return value.with_variation(varies and self.iterating)

    def parts(self, base: Value) -> list[str]:
        """Return the slots that hold elements of a container."""
        if base.region is None:
            return []
        slots = self.heap.find(base.region).slots
        return [slot for slot in slots if slot == ELEMENTS or slot.startswith("#")] or [ELEMENTS]

    def read_part(self, base: Value, key: Key | None = None) -> Value:
        """Return what any element of a container may be."""
        value = NOTHING
        for slot in self.parts(base):
            value = self.heap.join(value, self.read(base, slot, key))
        return value

    def hold(self, container: Value, *values: Value) -> Value:
        """Note that a new container holds these, or their elements' parts; return it."""
        for value in values:
            self.write(container, ELEMENTS, value)
        return container

    # Elements

    def element(self, value: Value, node: ast.AST) -> Value:
        """Return an element that going through a value gives."""
        if value.type in ("atom", "range", "none"):
            return replace(ATOM, varies=value.varies)
        if value.type == "tensor":
            return replace(value, own=False, key=None, width=False)
        if value.type in ("ndarray", "variable"):
            if not self.is_own(value) and value.region is not None:
                self.note(value.region, EVERY, "read")
            return replace(value, own=False, key=None, width=False, varies=self.heap.varies_deeply(value))
        if value.type == "dataset":
            return Value(type="tensor", varies=self.heap.varies_deeply(value) or self._is_active(value))
        if value.type in _ONCE or value.instance is not None:
            return self._take(value, node)
        if value.type in ("dict", "defaultdict"):
            self._read_whole(value)
            return self.read(value, KEYS).with_variation(self._varies_anywhere(value))
        if value.type == "pairs":
            self._read_whole(value)
            return Value(type="pair", region=value.region, varies=value.varies or self._varies_anywhere(value))
        if value.type == "pair":
            return self.heap.join(self.read(value, KEYS), self.read_part(value))
        if value.type in CONTAINERS or value.type == "?":
            self._read_whole(value)
            found = self.read_part(value)
            unordered = value.type == "set" and found.type not in ("atom", "?")
            return found.with_variation(self.iterating and (unordered or self._varies_anywhere(value)))
        return self._take(value, node)

    def mapped(self, value: Value, node: ast.AST) -> Value:
        """Return what a mapping has under any of its keys."""
        return self.read_part(value) if value.type in ("dict", "defaultdict") else self.element(value, node)

    def _take(self, value: Value, node: ast.AST) -> Value:
        """Take an element of what may be used up by it, or may run code."""
        if value.type == "shuffled":
            self.note(self.random, EVERY, "draw")
            return Value(type="tensor", varies=self.iterating)
        if value.instance is not None or self.may_run_code(value):
            return self.call_unknown(node, value)
        found = self.read_part(value) if value.type == "iterator" else Value(region=value.region, type="")
        varies = self.heap.varies_deeply(value) or value.lazy or value.type != "iterator" or not self.is_own(value)
        if value.region is not None and value.type == "iterator" and not value.lazy and self.is_own(value):
            if varies or self.control:
                self.heap.vary(value.region, EVERY)  # its elements stay as they are
        elif value.region is not None:
            self.change_deeply(value, varies)
        if value.lazy:
            self.doubt("a generator runs as its elements are taken")
        return found.with_variation(varies and self.iterating)

    def _is_active(self, value: Value) -> bool:
        return value.region is not None and any(region.code for region in self.heap.reach(value.region))

    def _varies_anywhere(self, value: Value) -> bool:
        if not self.iterating or value.region is None:
            return False
        return value.varies or self.heap.havoc or bool(self.heap.find(value.region).varying)

    def _read_whole(self, value: Value) -> None:
        if value.region is not None and not self.is_own(value):
            self.note(value.region, EVERY, "read")

    def load_item(self, base: Value, index: Value, node: ast.Subscript) -> Value:
        """Return ``base[index]``."""
        varies = self.heap.varies_deeply(index) and self.iterating
        if base.width and base.type == "atom" and is_last(node.slice):
            return ATOM  # the last number of a shape
        if base.type in ("atom", "none", "tensor", "range"):
            kind = "atom" if base.type == "range" else base.type
            return replace(base, type=kind, key=None, width=False).with_variation(varies)
        if self.may_run_code(base, index):
            return self.call_unknown(node, base, index)
        if base.type in ("ndarray", "variable", "pairs"):
            found = self.read_part(base, index.key)
            kind = "tensor" if base.type == "variable" else base.type
            return replace(base, own=False, key=None, type=kind, width=False).with_variation(varies or found.varies)
        if isinstance(node.slice, ast.Slice) and base.type in ("list", "tuple"):
            made = self.allocate(node, type="list")
            return self.hold(made, self.element(base, node)).with_variation(varies or self.heap.varies_deeply(base))
        if base.type == "defaultdict" and base.region is not None:
            self.write(base, KEYS, index, "collect:keys")
        named = self._find_slots(base, node.slice)
        if named:
            found = NOTHING
            for slot in named:
                found = self.heap.join(found, self.read(base, slot))
            return found
        if base.type == "pair":
            return self.element(base, node).with_variation(varies)
        if base.type in CONTAINERS or base.type == "?":
            return self.read_part(base, index.key).with_variation(varies)
        found = self.read_part(base, index.key)
        return replace(found, type=found.type if base.instance else "").with_variation(
            varies or (self._varies_anywhere(base) and self.iterating)
        )

    def _find_slots(self, base: Value, index: ast.expr) -> list[str]:
        """Return the slots that the element at a constant index may be in; empty if it may be any element.

        Elements of a dict stay under their keys. Those of a list stay at their places until something else is put into
        it, or their order changes; then it has a slot for any place.
        """
        if not isinstance(index, ast.Constant) or base.region is None:
            return []
        slots, key = self.heap.find(base.region).slots, get_key_slot(index)
        if base.type in ("dict", "defaultdict"):
            return [slot for slot in (key, ELEMENTS) if slot in slots] if key else []
        place = f"#{index.value!r}"
        apart = base.type in ("tuple", "list") and place in slots and ELEMENTS not in slots
        return [place] if apart else []

    def store_item(
        self, base: Value, index: Value, value: Value, node: ast.Subscript, how: str = "assign", sliced: bool = False
    ) -> None:
        """Note ``base[index] = value``."""
        if self.may_run_code(base, index):
            self.call_unknown(node, base, index, value)
            return
        if base.type in IMMUTABLE and base.region is None:
            return
        varies = self.heap.varies_deeply(index) and self.iterating
        if base.type in ("ndarray", "variable") and value.type in ("ndarray", "variable"):
            value = Value(type="atom", varies=self.heap.varies_deeply(value))
        self.read_deeply(value) if base.type == "ndarray" else None
        if sliced and base.type != "ndarray":
            value = self.element(value, node)
        key = index.key if not sliced and base.type in ("dict", "defaultdict", "list", "ndarray") else None
        if key is not None and base.type in ("list", "ndarray") and key[0] != "count":
            key = None
        if base.type in ("dict", "defaultdict") and base.region is not None:
            self.heap.store(base.region, KEYS, index)
            if not self.is_own(base) or varies or self.control or base.varies:
                self.heap.vary(base.region, KEYS)
        slot = (get_key_slot(node.slice) if base.type in ("dict", "defaultdict") else "") or ELEMENTS
        if base.type not in CONTAINERS and base.type != "ndarray" and base.instance is None:
            self.write(base, EVERY, value.with_variation(varies), how, key)
        self.write(base, slot, value.with_variation(varies), how, key)

    # Attributes

    def load_attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        """Return ``base.name``."""
        if base is NOTHING:
            return NOTHING
        if base.api and base.type != "method":
            return self._api_attribute(base, name)
        if base.made is not None:
            return self._class_attribute(base.made, name, base, node)
        if base.instance is not None:
            return self._instance_attribute(base, base.instance, name, node)
        if base.type and base.type not in ("?", "object", "any"):
            return self._typed_attribute(base, name)
        if name in self.classes.properties or not self.classes.all_plain:
            return self.call_unknown(node, base)
        found = self.read(base, name)
        return found.with_variation(self._varies_anywhere(base)) if base.region is not None else self.unknown_value()

    def _api_attribute(self, base: Value, name: str) -> Value:
        api = f"{base.api}.{name}"
        effect = find_effect(canonical_api(api))
        if effect is not None and "attribute" in effect.kinds:
            return Value(type=effect.result, varies=base.varies)
        if base.region is not None:
            self.read(base, EVERY)
        return Value(api=api, region=base.region, varies=base.varies or self._varies_anywhere(base))

    def _class_attribute(self, made: ast.ClassDef, name: str, base: Value, node: ast.AST) -> Value:
        try:
            method = self.find_method(made, name)
        except LookupError:
            return self.unknown_value()
        if method is not None:
            kinds = get_decorators(method)
            if kinds - {"staticmethod", "classmethod", "abstractmethod", "override", "function"}:
                return self.unknown_value()
            return Value(code=Code(method, base if "classmethod" in kinds else None), varies=base.varies)
        lineage = self.lineage(made)
        owner = next((info.node for info in lineage[0] if name in info.fields), made) if lineage else made
        return self.read(Value(region=self.class_region(owner), varies=base.varies), name)

    def _instance_attribute(self, base: Value, made: ast.ClassDef, name: str, node: ast.AST) -> Value:
        try:
            method = self.find_method(made, name)
        except LookupError:
            return self.call_unknown(node, base)
        if method is not None:
            kinds = get_decorators(method)
            if kinds - {"staticmethod", "classmethod", "property", "abstractmethod", "override", "function"}:
                return self.call_unknown(node, base)
            bound = base
            if "classmethod" in kinds:
                bound = Value(made=made)
            code = Code(method, None if "staticmethod" in kinds else bound)
            if "property" in kinds:
                return self.call_code(node, code, None, base.varies)
            return Value(code=code, varies=base.varies, region=base.region, own=base.own)
        lineage = self.lineage(made)
        fields = [info.node for info in lineage[0] if name in info.fields] if lineage else []
        found = NOTHING
        if base.region is not None and (not fields or name in self.heap.find(base.region).slots):
            if base.type and base.type != "object" and name not in self.heap.find(base.region).slots:
                self.read_deeply(base)
                whole = self.heap.collapse(base.region)
                return Value(region=whole, varies=self.heap.varies_deeply(base) and self.iterating)
            found = self.read(base, name)
        if fields:
            found = self.heap.join(found, self.read(Value(region=self.class_region(fields[0])), name))
        return found.with_variation(base.varies)

    def _typed_attribute(self, base: Value, name: str) -> Value:
        kind = find_effect(f"{get_table_type(base.type)}.{name}")
        if kind is not None and "attribute" in kind.kinds:
            if kind.result == "view":
                return replace(base, own=base.own, key=None, width=False)
            varies = self.heap.varies_deeply(base) and self.iterating
            return Value(type=kind.result, varies=varies, width=self.iterating and name == "shape" and base.width)
        if kind is not None:
            return replace(base, type="method", api=f"{get_table_type(base.type)}.{name}", key=None, instance=None)
        if base.region is None:
            return Value(type="", region=self.outside, varies=self.iterating)
        self.read_deeply(base)
        return Value(region=self.heap.collapse(base.region), varies=self.heap.varies_deeply(base) and self.iterating)

    def store_attribute(self, base: Value, name: str, value: Value, node: ast.AST, how: str = "assign") -> None:
        """Note ``base.name = value``."""
        if base.api and base.type != "method":
            if base.region is None:
                raise Undecided("a library's attribute is replaced")
            self.write(base, EVERY, value, how)
        elif base.made is not None:
            self.write(Value(region=self.class_region(base.made), varies=base.varies), name, value, how)
        elif name in self.classes.properties or not self.classes.all_plain:
            self.call_unknown(node, base, value)
        elif base.instance is None and base.type and base.type not in ("?", "object", "any"):
            self.change_deeply(base, True)
            self.write(base, ELEMENTS, value, how)
        else:
            self.write(base, name, value, how)

    # Calls, which other modules make

    def call_unknown(self, node: ast.AST, *values: Value) -> Value:
        """Note a call that may change anything that it can reach; return its result."""
        raise NotImplementedError

    def call_code(self, node: ast.AST, code: Code, call: ast.Call | None, varies: bool) -> Value:
        """Call a function of the user; return its result."""
        raise NotImplementedError


def get_key_slot(key: ast.expr) -> str:
    """Return the slot for what a dictionary holds under a key; "" for a key that is computed, or equals others."""
    return f"#{key.value!r}" if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def get_table_type(name: str) -> str:
    """Return the name under which the table of effects has the methods of a type."""
    return {"defaultdict": "dict", "range": "tuple", "none": "atom"}.get(name, name)


def canonical_api(name: str) -> str:
    """Return one name for an API that has several."""
    return canonical(name)
