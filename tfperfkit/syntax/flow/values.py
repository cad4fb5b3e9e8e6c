"""Values that an expression may have, and the regions of objects that it may refer to.

A region stands for a set of objects that the analysis can't tell apart. Its slots hold what the objects hold: "[]"
their elements, other names their attributes. Assigning one reference to another merges the regions, in whatever order
the statements run (Steensgaard, "Points-to analysis in almost linear time", POPL 1996, with slots for attributes). So
two expressions can refer to the same object only if their regions are one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from tfperfkit.syntax.bindings import Callable

ELEMENTS = "[]"
#: All slots, in a set of slots.
EVERY = "*"
#: Types whose objects never change, and hold nothing that changes.
IMMUTABLE = frozenset({"atom", "none", "tensor"})
#: A value that is another one for each iteration of the analysed loop: by what it is computed. See ``Value.key``.
Key = tuple[object, ...]


class Region:
    """Objects that are not told apart. ``old``: some may exist before the iteration, or be reached from such;
    ``varying``: the slots whose content may differ between iterations; ``whole``: all that the objects reach is in the
    region too; ``code``: it may hold functions or objects of the user's classes."""

    __slots__ = ("code", "old", "parent", "slots", "varying", "whole")

    def __init__(self, *, old: bool = False, whole: bool = False) -> None:
        self.parent: Region | None = None
        self.slots: dict[str, Value] = {}
        self.varying: set[str] = set()
        self.old = old
        self.whole = whole
        self.code = False


@dataclass(frozen=True, slots=True)
class Code:
    """A function of the user. ``bound``: the object, if it is a method of one."""

    node: Callable
    bound: Value | None = None


@dataclass(slots=True, eq=False)
class Value:
    """Possible value of an expression. Values are not changed: ``replace`` makes others.

    ``varies``: it may differ between iterations; ``region``: the objects that it may refer to, None for what never
    changes; ``own``: it surely refers to an object that this iteration made; ``carried``: an earlier iteration may have
    assigned it; ``type``: of the table of effects, "" for unknown; ``api``: the dotted name of a library's module,
    function or class; ``code``: a function of the user; ``instance``, ``made``: a class of the user that it is an
    instance of, or that it is; ``key``: how it follows from what is another value in each iteration, None if two
    iterations may give the same value; ``width``: the last dimension, or the last number of a shape, is the same in
    each iteration, though the rest may differ.
    """

    varies: bool = False
    region: Region | None = None
    own: bool = False
    carried: bool = False
    type: str = ""
    api: str = ""
    code: Code | None = None
    instance: ast.ClassDef | None = None
    made: ast.ClassDef | None = None
    key: Key | None = None
    lazy: bool = False
    width: bool = False

    def with_variation(self, varies: bool) -> Value:
        """Return the value, as one that may differ if ``varies``."""
        return replace(self, varies=True) if varies and not self.varies else self


_get_fields = attrgetter(*(field.name for field in fields(Value)))


def replace(value: Value, **changes: Any) -> Value:
    """Return a value with some fields changed."""
    made = Value(*_get_fields(value))
    for name, changed in changes.items():
        setattr(made, name, changed)
    return made


ATOM = Value(type="atom")
NONE = Value(type="none")
#: The value of what was not evaluated yet.
NOTHING = Value(type="?")


class Heap:
    """All regions of an analysis. ``version`` grows with everything that is learned."""

    def __init__(self) -> None:
        self.version = 0
        self._regions: list[Region] = []
        #: Set once code is called that may change anything.
        self.havoc = False
        #: Functions of the user that are not told apart from other values, so that unknown code may call them.
        self.escaped: set[ast.AST] = set()

    def make(self, *, whole: bool = False) -> Region:
        """Make a new region."""
        region = Region(whole=whole)
        self._regions.append(region)
        return region

    def find(self, region: Region) -> Region:
        """Return the region that this one has been merged into."""
        while region.parent is not None:
            if region.parent.parent is not None:
                region.parent = region.parent.parent
            region = region.parent
        return region

    def age_all(self) -> None:
        """Declare all objects of now to exist before the iteration."""
        for region in self._regions:
            region.old = True

    def age(self, region: Region | None) -> None:
        """Declare that old objects may hold these, and all that they hold."""
        for each in self.reach(region):
            if not each.old:
                each.old = True
                self.version += 1

    def reach(self, *starts: Region | None) -> Iterator[Region]:
        """Go through the regions that can be reached from some."""
        pending = [self.find(each) for each in starts if each is not None]
        seen = set(map(id, pending))
        while pending:
            region = pending.pop()
            yield region
            for value in tuple(region.slots.values()):
                for held in (value.region, value.code.bound.region if value.code and value.code.bound else None):
                    if held is not None and id(found := self.find(held)) not in seen:
                        seen.add(id(found))
                        pending.append(found)

    def unify(self, first: Region | None, second: Region | None) -> Region | None:
        """Merge two regions: from now on they are not told apart."""
        if first is None or second is None:
            return first or second
        first, second = self.find(first), self.find(second)
        if first is second:
            return first
        self.version += 1
        second.parent = first
        first.varying |= second.varying
        first.code |= second.code
        whole = first.whole != second.whole
        first.whole |= second.whole
        aged = first.old != second.old
        first.old |= second.old
        for slot, value in second.slots.items():
            self._put(first, slot, value)
        second.slots = {}
        first = self.find(first)
        if whole:
            self.collapse(first)
        if aged:
            first.old = False
            self.age(first)
        return self.find(first)

    def collapse(self, region: Region) -> Region:
        """Make all contents of a region one part."""
        region = self.find(region)
        region.whole = True
        varying = set(region.varying)
        while region.slots:
            slots, region.slots = region.slots, {}
            for value in slots.values():
                region.code |= value.code is not None or value.instance is not None
                self.escape(value)
                if value.region is not None and self.find(value.region) is not region:
                    self.find(value.region).whole = True
                    self.unify(region, value.region)
                    region = self.find(region)
        region.varying |= {EVERY} if varying or region.varying else set()
        return region

    def join(self, first: Value, second: Value) -> Value:
        """Return a value that stands for either."""
        if first is second or second is NOTHING:
            return first
        if first is NOTHING:
            return second
        if first.type == "none" and not first.code:
            first, second = second, first
        if second.type == "?":
            first, second = second, first
        if first.type == "?":
            return replace(second, region=self.unify(second.region, first.region), own=False)
        alone = second.type == "none"
        same = alone or (
            first.type == second.type
            and first.api == second.api
            and first.instance is second.instance
            and first.made is second.made
        )
        code = first.code if alone else self._join_code(first.code, second.code)
        lost = code is None and (first.code is not None or second.code is not None)
        if lost or first.instance is not second.instance:
            self.escape(first)
            self.escape(second)
        return Value(
            varies=first.varies or second.varies,
            region=self.unify(first.region, second.region),
            own=first.own and (second.own or alone),
            carried=first.carried or second.carried,
            type=first.type if same and (code is not None or not (first.code or second.code)) else "",
            api=first.api if same else "",
            code=code,
            instance=first.instance if same else None,
            made=first.made if same else None,
            lazy=first.lazy or second.lazy,
            width=first.width and second.width,
        )

    def _join_code(self, first: Code | None, second: Code | None) -> Code | None:
        if first is None or second is None or first.node is not second.node:
            return None
        if first.bound is None or second.bound is None:
            return first if first.bound is second.bound else None
        return Code(first.node, self.join(first.bound, second.bound))

    def escape(self, value: Value) -> None:
        """Note that unknown code may call what a value is, or the methods of the class that it is or is of."""
        for node in (value.code.node if value.code else None, value.instance, value.made):
            if node is not None and node not in self.escaped:
                self.escaped.add(node)
                self.version += 1

    def _put(self, region: Region, slot: str, value: Value) -> None:
        region = self.find(region)
        if region.whole:
            region.code |= value.code is not None or value.instance is not None
            self.escape(value)
            if value.region is not None and self.find(value.region) is not region:
                self.find(value.region).whole = True
                self.unify(region, self.collapse(value.region))
            return
        if value.varies or value.own or value.carried or value.width or value.key is not None:
            value = replace(value, varies=False, own=False, carried=False, width=False, key=None)
        held = region.slots.get(slot)
        if held is None:
            region.slots[slot] = value
            self.version += 1
        elif not _says_the_same(self, held, value):
            joined = self.join(held, value)
            region = self.find(region)
            if not _says_the_same(self, region.slots.get(slot, held), joined):
                self.version += 1
            region.slots[slot] = joined

    def store(self, region: Region, slot: str, value: Value) -> None:
        """Note that the objects of a region may hold a value in a slot."""
        self._put(region, slot, value)
        region = self.find(region)
        if region.old and value.region is not None:
            self.age(value.region)
        if region.old and value.code is not None and value.code.bound is not None:
            self.age(value.code.bound.region)

    def load(self, region: Region, slot: str) -> Value:
        """Return what the objects of a region may hold in a slot."""
        region = self.find(region)
        if region.whole:
            return Value(region=region, varies=bool(region.varying))
        value = region.slots.get(slot)
        if value is None:
            held = self.make()
            held.old = region.old
            value = region.slots[slot] = Value(region=held, type="?")
            self.version += 1
        return value

    def vary(self, region: Region, slot: str) -> None:
        """Note that a slot may differ between iterations."""
        region = self.find(region)
        slot = EVERY if region.whole else slot
        if slot not in region.varying:
            region.varying.add(slot)
            self.version += 1

    def is_varying(self, region: Region, slot: str) -> bool:
        """Return whether a slot may differ between iterations."""
        region = self.find(region)
        return self.havoc or bool(region.varying & {slot, EVERY}) or (region.whole and bool(region.varying))

    def varies_deeply(self, value: Value) -> bool:
        """Return whether a value, or anything that can be reached from it, may differ between iterations."""
        if value.varies:
            return True
        if value.region is None:
            return False
        return self.havoc or any(each.varying for each in self.reach(value.region))


def _says_the_same(heap: Heap, first: Value, second: Value) -> bool:
    """Return whether joining the second value to the first says nothing new."""
    regions = [heap.find(each.region) if each.region is not None else None for each in (first, second)]
    if regions[1] is not None and regions[0] is not regions[1]:
        return False
    if second.type in ("none", "?") and second.code is None:
        return True
    return (
        first.type == second.type
        and first.api == second.api
        and first.instance is second.instance
        and first.made is second.made
        and first.lazy >= second.lazy
        and _same_code(heap, first.code, second.code)
    )


def _same_code(heap: Heap, first: Code | None, second: Code | None) -> bool:
    if first is None or second is None:
        return first is second
    if first.node is not second.node or (first.bound is None) != (second.bound is None):
        return False
    return first.bound is None or second.bound is None or _says_the_same(heap, first.bound, second.bound)
