"""Names of a file that functions read: whether they hold the same whenever a function is called."""

from __future__ import annotations

import builtins

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.module import Module, method, walk
from tfperfkit.syntax.effects import list_changing

_IMPORTS = (cst.Import, cst.ImportFrom)
_LOOPS = (cst.For, cst.While)
_SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.CompFor)
#: A part of a part of a part: few programs go deeper.
_LONGEST = 5
#: Methods of random generators that change the list or array that they are given.
_SHUFFLING = frozenset({"shuffle"})
#: A dictionary is only read by it. A queue, from which it takes, is nothing that a patch keeps.
_READING = frozenset({"get"})


def explain_changing(module: Module, name: str) -> str:
    """Return why a name that a function of the file reads from outside may hold another value later; "" if it may not.
    The name is bound at most once at the file's top level, in no loop and by no function, and its object is not
    changed in place."""
    found = find_bindings(module, name)
    if not found:
        inner = any(name in names.gives(node) | _name_parameter(node) for node in module.nodes)
        known = not inner or hasattr(builtins, name)
        return "" if known else f"it uses {name}, which belongs to another function"
    if len(found) > 1 or isinstance(found[0], (cst.AugAssign, cst.For)) or is_declared_global(module, name):
        return f"it uses {name}, which gets several values"
    if any(isinstance(item, _LOOPS) for item in module.around(found[0])):
        return f"it uses {name}, which gets several values"
    imported = any(isinstance(item, _IMPORTS) for item in (found[0], *module.around(found[0])))
    changed = "" if imported else find_changed(module.tree, {name})
    return f"it uses {name}, which is changed in place" if changed else ""


def find_bindings(module: Module, name: str) -> list[cst.CSTNode]:
    """Return the nodes outside of functions and classes that give a name of the file a value, in source order."""
    return [
        node
        for node in module.nodes
        if name in names.gives(node)
        and not isinstance(node, cst.CompFor)
        and not any(isinstance(item, _SCOPES) for item in module.around(node))
    ]


def is_declared_global(module: Module, name: str) -> bool:
    """Return whether a function says ``global`` of a name, so that it may give the name another value."""
    return any(item.name.value == name for node in module.nodes if isinstance(node, cst.Global) for item in node.names)


def find_changed(node: cst.CSTNode, kept: set[str]) -> str:
    """Return the first of these names whose object, or a part of it that gets a name, some code changes in place; "" if
    none does."""
    kept = _add_parts(node, kept)
    for at in walk(node):
        owner: cst.CSTNode | None = None
        if isinstance(at, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)):
            owner = at.target
            if isinstance(owner, cst.Name) and not isinstance(at, cst.AugAssign):
                owner = None
        elif (
            isinstance(at, cst.Call)
            and method(at) in (list_changing() - _READING) | _SHUFFLING
            and isinstance(at.func, cst.Attribute)
        ):
            if any(isinstance(item.value, cst.Name) and item.value.value in kept for item in at.args):
                owner = at.args[0].value if method(at) in _SHUFFLING else None
            owner = owner or at.func.value
        while isinstance(owner, (cst.Subscript, cst.Attribute)):
            owner = owner.value
        if isinstance(owner, cst.Name) and owner.value in kept:
            return str(owner.value)
    return ""


def _add_parts(node: cst.CSTNode, kept: set[str]) -> set[str]:
    """Return the names, and the names of parts of these objects: ``row = rows[0]``."""
    pairs = [
        (at.target, item.value)
        for item in walk(node) if isinstance(item, cst.Assign)
        for at in item.targets
    ] + [(item.target, item.iter) for item in walk(node) if isinstance(item, cst.For)]  # fmt: skip
    found = set(kept)
    for _ in range(_LONGEST):
        known = len(found)
        for target, value in pairs:
            while isinstance(value, (cst.Subscript, cst.Attribute)):
                value = value.value
            if isinstance(value, cst.Name) and value.value in found:
                found |= {at.value for at in names.plain_names(target)}
        if len(found) == known:
            break
    return found


def _name_parameter(node: cst.CSTNode) -> set[str]:
    return {node.name.value} if isinstance(node, cst.Param) else set()
