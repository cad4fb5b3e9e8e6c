"""The containers that the user's names lead to, and how long they are: where a script keeps what it should not.

Looked at: the globals of the user's modules, the local variables of the user's functions that are on the stack,
attributes of objects whose class is the user's, and one level of containers in a dictionary. Lengths come from C
slots of list, dict, set, deque and ndarray; no method or property of the script is ever called.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, ModuleType
from typing import Any

import msgspec

from tfperfkit.clock import now_ns, thread_ns
from tfperfkit.instruments.hooks.frame_locals import is_function, locals_of, unseen
from tfperfkit.records.memory import Container

#: A look ends after this much of its thread's processor time or this many containers, and says so.
MAX_NS = 5_000_000
MAX_CONTAINERS = 2000
_MAX_ENTRIES = 32  # a dictionary with more entries is not looked into


class Look(msgspec.Struct, frozen=True):
    """The result of one look.

    ``complete`` is False when a bound ended it; ``skipped`` are functions not looked into.
    """

    containers: tuple[Container, ...]
    took_ns: int
    complete: bool
    skipped: tuple[str, ...] = ()


class Containers:
    """Looks at the user's containers. Keeps no reference to any object of the script between two looks."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._modules: dict[str, bool] = {}
        self._user_names: list[str] = []
        self._module_count = 0

    def look(self, frame: FrameType | None) -> Look:
        """``frame`` is the innermost frame of the training thread, which must be the calling one."""
        walk = _Walk(self._user_modules(), thread_ns() + MAX_NS)
        skipped: list[str] = []
        begin = now_ns()
        seen_code: set[CodeType] = set()
        while frame is not None and walk.open:
            code = frame.f_code
            if is_function(code) and code not in seen_code and self._is_user(code.co_filename):
                seen_code.add(code)
                if _readable(code):
                    self._frame(frame, walk)
                else:
                    skipped.append(code.co_name)
            frame = frame.f_back
        for module in walk.modules.values():
            if walk.open:
                values = vars(module)
                walk.names(values, str(values.get("__file__")), "", 0)
        return Look(tuple(walk.found), now_ns() - begin, walk.open, tuple(skipped))

    def _frame(self, frame: FrameType, walk: _Walk) -> None:
        code = frame.f_code
        with locals_of(frame) as values:
            walk.names(values, code.co_filename, code.co_name, code.co_firstlineno)

    def _user_modules(self) -> dict[str, ModuleType]:
        if len(sys.modules) != self._module_count:  # looking through some 3000 names takes a millisecond
            self._module_count = len(sys.modules)
            for name, module in list(sys.modules.items()):
                if name not in self._modules:
                    file = vars(module).get("__file__") if type(module) is ModuleType else None
                    self._modules[name] = isinstance(file, str) and self._is_user(file)
            self._user_names = [name for name, is_user in self._modules.items() if is_user]
        found = {}
        for name in self._user_names:
            present = sys.modules.get(name)
            if type(present) is ModuleType:
                found[name] = present
        return found


def _readable(code: CodeType) -> bool:
    """Return whether reading the locals of a frame of this code changes nothing that the script can see."""
    return sys.version_info >= (3, 13) or (unseen(code) and sys.gettrace() is None)


class _Walk:
    def __init__(self, modules: dict[str, ModuleType], end_ns: int) -> None:
        self.modules = modules
        self.found: list[Container] = []
        self.open = True
        self._end_ns = end_ns
        self._seen: set[int] = set()
        self._kinds: dict[type, str] = {}

    def names(self, values: Any, file: str, function: str, line: int) -> None:
        """All names of a scope."""
        for name, value in list(values.items()):
            if type(name) is str and not name.startswith("__"):
                self._value(name, value, (file, function, line), 2)
            if not self.open:
                return

    def _value(self, name: str, value: Any, scope: tuple[str, str, int], depth: int) -> None:
        kind = self._kind_of(value)
        if kind:
            if id(value) in self._seen:
                return
            self._seen.add(id(value))
            self._container(name, value, kind, scope)
            if kind == "dict" and depth and dict.__len__(value) <= _MAX_ENTRIES:
                for key, item in list(dict.items(value)):
                    if type(key) is str and self._kind_of(item):
                        self._value(f"{name}[{key!r}]", item, scope, depth - 1)
        elif depth and self._is_persons(type(value)) and id(value) not in self._seen:
            self._seen.add(id(value))
            for attribute, item in _attributes(value):
                self._value(f"{name}.{attribute}", item, scope, depth - 1)
        elif depth and type in _mro(type(value)) and self._is_persons(value) and id(value) not in self._seen:
            self._seen.add(id(value))
            for attribute, item in list(type.__getattribute__(value, "__dict__").items()):
                if not attribute.startswith("__") and self._kind_of(item):
                    self._value(f"{name}.{attribute}", item, scope, 0)

    def _kind_of(self, value: Any) -> str:
        kind = type(value)
        known = self._kinds.get(kind)
        if known is None:
            known = self._kinds[kind] = _kind(kind)
        return known

    def _is_persons(self, kind: type) -> bool:
        module = type.__getattribute__(kind, "__dict__").get("__module__")
        return isinstance(module, str) and module in self.modules

    def _container(self, name: str, value: Any, kind: str, scope: tuple[str, str, int]) -> None:
        length, element, size = _measure(value, kind)
        file, function, line = scope
        self.found.append(
            Container(
                name=name,
                kind=kind,
                length=length,
                file=file,
                function=function,
                line=line,
                element=element,
                element_bytes=size,
            )
        )
        if len(self.found) >= MAX_CONTAINERS or thread_ns() > self._end_ns:
            self.open = False


def _mro(kind: type) -> tuple[type, ...]:
    found: tuple[type, ...] = type.__getattribute__(kind, "__mro__")
    return found


def _kind(kind: type) -> str:
    bases = _mro(kind)
    for base, name in ((list, "list"), (dict, "dict"), (set, "set"), (deque, "deque")):
        if base in bases:
            return name
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
        return "ndarray"
    return "tensor" if kind.__name__ == "EagerTensor" and kind.__module__.startswith("tensorflow.") else ""


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the instance's own attributes, without descriptors or ``__getattr__`` of its class."""
    try:
        values = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return
    if type(values) is dict:
        for name, item in list(values.items()):
            if type(name) is str:
                yield name, item


def _measure(value: Any, kind: str) -> tuple[int, str, int | None]:
    """Length, type of the newest element, its bytes."""
    newest: Any = None
    if kind == "list":
        length = list.__len__(value)
        newest = list.__getitem__(value, -1) if length else None
    elif kind == "dict":
        length = dict.__len__(value)
        newest = next(reversed(dict.values(value)), None) if length else None
    elif kind == "deque":
        length = deque.__len__(value)
        newest = deque.__getitem__(value, -1) if length else None
    elif kind == "set":
        length = set.__len__(value)
        newest = next(set.__iter__(value), None) if length else None
    elif kind == "ndarray":
        return int(value.size), str(value.dtype), int(value.itemsize)
    else:
        return _elements(value), f"tensor of {value.dtype.name}", int(value.dtype.size)
    return (length, type(newest).__name__, _size(newest)) if length else (0, "", None)


def _elements(tensor: Any) -> int:
    try:
        return int(tensor._num_elements())
    except Exception:
        return 0


def _size(value: Any, depth: int = 1) -> int | None:
    kind = type(value)
    if kind.__name__ == "EagerTensor" and kind.__module__.startswith("tensorflow."):
        try:
            return _elements(value) * int(value.dtype.size)
        except Exception:
            return None
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
        # A view keeps the whole array that it looks at; how many views share it is unknown here.
        return int(value.nbytes) + 112
    if kind in (int, float, complex, bool, str, bytes, bytearray) or value is None:
        return sys.getsizeof(value)
    if kind in (list, tuple, dict) and depth:
        items = list(value.values()) if kind is dict else list(value)
        sizes = [_size(item, depth - 1) for item in items[:16]]
        known = [size for size in sizes if size is not None]
        if len(known) == len(sizes) and sizes:
            return int(sys.getsizeof(value) + sum(known) * len(items) / len(sizes))
    return sys.getsizeof(value) if kind in (list, tuple, dict) and not value else None
