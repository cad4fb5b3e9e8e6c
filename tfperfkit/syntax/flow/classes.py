"""The classes that a file defines: their methods as Python looks them up, and what of them defies analysis."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tfperfkit.syntax.bindings import Definition, Frames

#: Methods of a class that change what reading or setting an attribute means.
_MAGIC = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__new__", "__init_subclass__"})
#: Methods that no operator calls.
_PLAIN = frozenset({"__init__", "__call__", "__enter__", "__exit__", "__post_init__", "__del__", *_MAGIC})
_KEEP = frozenset(
    {"staticmethod", "classmethod", "property", "abstractmethod", "override", "function", "cached_property"}
)


@dataclass
class ClassInfo:
    """``methods``: by name; ``unclear``: those defined twice; ``plain``: whether attributes mean what they usually do;
    ``fields``: what the body assigns, in order."""

    node: ast.ClassDef
    methods: dict[str, Definition] = field(default_factory=dict)
    unclear: set[str] = field(default_factory=set)
    fields: list[str] = field(default_factory=list)
    plain: bool = True


def describe_class(node: ast.ClassDef) -> ClassInfo:
    """Describe the body of a class."""
    info = ClassInfo(node, plain=not any(word.arg for word in node.keywords))
    for item in node.body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if item.name in info.methods:
                info.unclear.add(item.name)
            info.methods[item.name] = item
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            info.fields.append(item.target.id)
        elif isinstance(item, ast.Assign):
            info.fields += [target.id for target in item.targets if isinstance(target, ast.Name)]
        elif not isinstance(item, (ast.Expr, ast.Pass)):
            info.plain = False  # methods under a condition
    info.plain = info.plain and not (_MAGIC & info.methods.keys())
    return info


class Classes:
    """All classes of a file. ``operators``: methods that operators and builtins call, of any of the classes."""

    def __init__(self, frames: Frames) -> None:
        self.of = {node: describe_class(node) for node in frames.classes}
        names = {name for info in self.of.values() for name in info.methods}
        self.operators = {name for name in names if name.startswith("__") and name.endswith("__")} - _PLAIN
        self.properties = {
            name
            for info in self.of.values()
            for name, method in info.methods.items()
            if get_decorators(method) & {"property", "cached_property", "setter", "?"}
        }
        self.all_plain = all(info.plain for info in self.of.values())
        #: Attributes that are set outside of a class's body: one of a method's name may stand for another function.
        self.stored = frames.stored


def get_decorators(function: ast.AST) -> set[str]:
    """Return the last words of a function's decorators; "?" for one that may replace the function."""
    found = set()
    for item in getattr(function, "decorator_list", ()):
        item = item.func if isinstance(item, ast.Call) else item
        word = item.attr if isinstance(item, ast.Attribute) else getattr(item, "id", "?")
        found.add(word if word in _KEEP or word == "setter" else "?")
    return found
