"""Attributes of ``self`` that never change after ``__init__``, and code that reads nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.edit import NoFix
from tfperfkit.fixing.globals import explain_changing, find_bindings
from tfperfkit.fixing.module import Module, method, walk
from tfperfkit.fixing.traceable import makes_variables
from tfperfkit.syntax.effects import find_effect, list_changing

#: Types whose objects a class keeps as its state.
_STATE = ("variable", "optimizer", "layer", "metric", "list", "dict", "ndarray")
#: Further calls that change state: of checkpoints, and of attributes by their name.
_SETTING = frozenset({"restore", "setattr", "__setattr__"})


def check_constant_state(module: Module, owner: cst.ClassDef) -> None:
    """Raise NoFix unless the state of the class's objects can only change in ``__init__``: nothing in the file changes
    variables, weights or objects in place, and no class is derived from it."""
    made_here = any(isinstance(call.func, cst.Name) and call.func.value == owner.name.value for call in module.calls)
    if not made_here and makes_variables(module, owner):
        raise NoFix(f"{owner.name.value} makes variables, and another file makes and may train its objects")
    for node in module.nodes:
        if isinstance(node, cst.Call):
            name = method(node) or getattr(node.func, "value", "")
            if module.imported(node.func) is not None:
                continue
            local = isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.Name)
            own = local and node.func.value.value != "self"
            if name in list_changing(*_STATE) | _SETTING and not (
                own and name in ("append", "extend", "update", "pop", "sort")
            ):
                raise NoFix(f"line {module.line(node)} calls {name}, which may change what it is made from")
        if isinstance(node, cst.ClassDef) and any(
            isinstance(item.value, cst.Name) and item.value.value == owner.name.value for item in node.bases
        ):
            raise NoFix(f"{node.name.value} is derived from {owner.name.value}")
    for node in module.nodes:
        for target in _list_targets(node):
            at = target
            while isinstance(at, cst.Subscript):
                at = at.value
            if isinstance(at, cst.Attribute) and not _is_in_init(module, node, owner):
                raise NoFix(f"line {module.line(node)} sets {at.attr.value} outside of __init__")


def _list_targets(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.Del)):
        for at in walk(node.target):
            if isinstance(at, (cst.Attribute, cst.Subscript)):
                yield at


def _is_in_init(module: Module, node: cst.CSTNode, owner: cst.ClassDef) -> bool:
    """Return whether a statement is in an ``__init__``, or sets what another class only has for itself."""
    around = list(module.around(node))
    function = next((item for item in around if isinstance(item, cst.FunctionDef)), None)
    return function is not None and (
        function.name.value == "__init__" or owner not in around and _is_counter(module, node)
    )


def _is_counter(module: Module, node: cst.CSTNode) -> bool:
    """Return whether a statement of another class only counts in an attribute that the first class does not have."""
    if not isinstance(node, cst.AugAssign) or not isinstance(node.target, cst.Attribute):
        return False
    name = node.target.attr.value
    return isinstance(node.target.value, cst.Name) and node.target.value.value == "self" and not any(
        isinstance(at, cst.AssignTarget) and isinstance(at.target, cst.Attribute) and at.target.attr.value == name
        and next((i for i in module.around(at) if isinstance(i, cst.ClassDef)), None)
        is not next((i for i in module.around(node) if isinstance(i, cst.ClassDef)), None)
        for at in module.nodes
    )  # fmt: skip


def explain_varying(module: Module, node: cst.CSTNode, fixed: set[str], local: set[str]) -> str:
    """Return why an expression may differ between calls of a method whose object does not change; "" if it doesn't.

    ``fixed``: local names that hold the same in each call; ``local``: all local names of the method.
    """
    skipped = {at.attr for at in walk(node) if isinstance(at, cst.Attribute)}
    skipped |= {at.keyword for at in walk(node) if isinstance(at, cst.Arg) and at.keyword is not None}
    for at in walk(node):
        if isinstance(at, cst.Name) and at not in skipped and at.value in local and at.value not in fixed | {"self"}:
            return f"it uses {at.value}, which is another one at each call"
        if isinstance(at, cst.Name) and at not in skipped and at.value not in local | {"self"}:
            changing = explain_changing(module, at.value) or _explain_variable(module, at.value)
            if changing:
                return changing
        if isinstance(
            at, (cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp, cst.Await, cst.Yield)
        ):
            return "it has a part whose calls are not seen"
        if isinstance(at, cst.Call) and not _is_pure(module, at):
            return f"what {module.tree.code_for_node(at.func).strip()} does is not known"
    return ""


def _explain_variable(module: Module, name: str) -> str:
    """Return why a name of the file's top level holds a variable, whose value may change; "" if it doesn't."""
    statements = (next(module.around(node), node) for node in find_bindings(module, name))
    made = any(isinstance(node, cst.Assign) and makes_variables(module, node) for node in statements)
    return f"it uses {name}, a variable, which may change" if made else ""


def _is_pure(module: Module, call: cst.Call) -> bool:
    """Return whether a call's result follows from its arguments and from what does not change."""
    name = module.imported(call.func)
    if name is not None:
        effect = find_effect(name)
        return effect is not None and effect.kinds == {"pure"}
    words = module.tree.code_for_node(call.func).strip()
    if words.startswith("self.") and words.count(".") == 1:
        return all(not _explain_class(module, item) for item in _callables(module, words[5:]))
    return False


def _callables(module: Module, name: str) -> Iterator[cst.FunctionDef]:
    """Yield what ``self.name(...)`` may run: the methods of this name, else ``__call__`` of each class of the file."""
    own = [node for node in module.nodes if isinstance(node, cst.FunctionDef) and node.name.value == name]
    called = [node for node in module.nodes if isinstance(node, cst.FunctionDef) and node.name.value == "__call__"]
    if not own and not called:
        raise NoFix(f"what self.{name} is is not seen")
    yield from own or called


def _explain_class(module: Module, function: cst.FunctionDef) -> str:
    """Return why a method does more than to compute from what it is given and what its object holds; "" if it
    doesn't."""
    own = names.parameters(function) | names.binds([function.body])
    for read in sorted(names.read(function.body) - own):
        changing = explain_changing(module, read) or _explain_variable(module, read)
        if changing:
            return changing
    for node in walk(function.body):
        if isinstance(node, (cst.AugAssign, cst.Global, cst.Nonlocal, cst.Yield, cst.With, cst.While, cst.Del)):
            return "it may change something"
        if isinstance(node, cst.AssignTarget) and not isinstance(node.target, (cst.Name, cst.Tuple)):
            return "it sets an attribute"
        if isinstance(node, cst.Call):
            name = module.imported(node.func)
            effect = find_effect(name) if name is not None else None
            if effect is None or effect.kinds != {"pure"}:
                return "it calls what is not known"
    return ""
