"""A model that is called eagerly in a loop becomes a ``tf.function``, made once before the loop or after the model."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, dotted, walk
from tfperfkit.fixing.traceable import obstacle

_LOOPS = (cst.For, cst.While)
_COMPREHENSIONS = (cst.ListComp, cst.DictComp, cst.SetComp, cst.GeneratorExp)
_COMPILE = "tensorflow.function"
_LITERALS = (cst.List, cst.Tuple, cst.Dict, cst.Integer, cst.Float)
_SETTING = frozenset({"trainable", "run_eagerly"})


def compile_model(case: Case) -> list[Edit]:
    """At the first place with the call of one object that is neither a function of the file nor of a library."""
    reason = NoFix("no one call of a model is seen at its places")
    for module, span in case.places():
        calls = [call for call in module.calls if module.line(call) == span.line and _is_object(module, call)]
        marked = [
            call for call in calls if any(item.keyword and item.keyword.value == "training" for item in call.args)
        ]
        found = marked or calls
        if len(found) != 1:
            continue
        try:
            return _compile(module, found[0])
        except NoFix as error:
            reason = error
    raise reason


def _is_object(module: Module, call: cst.Call) -> bool:
    """Return whether a call is of an object, by its name or as an attribute of ``self``."""
    words = dotted(call.func)
    if words is None or module.imported(call.func) is not None:
        return False
    first, _, rest = words.partition(".")
    own = {node.name.value for node in module.nodes if isinstance(node, (cst.FunctionDef, cst.ClassDef))}
    last = rest.rpartition(".")[2] or first
    if any(module.imported(value.func) == _COMPILE for value in _list_calls(module, words)):
        return False
    if rest and (first != "self" or "." in rest):
        return False
    return last not in own and not hasattr(builtins, words)


def _list_calls(module: Module, words: str) -> Iterator[cst.Call]:
    """Yield the calls whose result the file gives a name or an attribute."""
    for node in module.nodes:
        call = node.value if isinstance(node, cst.Assign) else None
        if isinstance(call, cst.Call) and any(dotted(item.target) == words for item in node.targets):
            yield call


def _compile(module: Module, call: cst.Call) -> list[Edit]:
    words = dotted(call.func) or ""
    _check_call(module, call)
    _check_classes(module)
    around = list(module.around(call))
    function: Any = next((node for node in around if isinstance(node, (cst.FunctionDef, cst.Lambda))), module.tree)
    if isinstance(function, cst.Lambda):
        raise NoFix("the model is called in a lambda")
    place = _find_loop(around, words)
    if place is not None:
        if isinstance(function, cst.FunctionDef) and is_repeated(module, function):
            raise NoFix(f"{function.name.value} is called in a loop, and would compile the model in each call")
        own = f"{words.rpartition('.')[2]}_compiled"
        _check_free(module, own)
        return [_before(module, place, own, words), _rename(module, call, own)]
    made = _find_making(module, words, function)
    owner, _, last = words.rpartition(".")
    own = f"{owner}.{last}_compiled" if owner else f"{last}_compiled"
    _check_free(module, f"{last}_compiled")
    return [_after(module, made, own, words), _rename(module, call, own)]


def _check_call(module: Module, call: cst.Call) -> None:
    given = [item for item in call.args if item.keyword is None]
    if len(given) != 1 or given[0].star or isinstance(given[0].value, _LITERALS):
        raise NoFix("the model does not get one tensor or array")
    for item in call.args:
        if item.keyword is not None and item.keyword.value != "training":
            raise NoFix(f"the model gets {item.keyword.value}")
        if item.keyword is not None and dotted(item.value) not in ("True", "False", "None"):
            raise NoFix("whether the model is training changes")


def _check_classes(module: Module) -> None:
    """Raise NoFix if a class of the file computes what a trace does not repeat, or a setting of models changes."""
    for node in module.nodes:
        if isinstance(node, cst.FunctionDef) and node.name.value in ("call", "__call__"):
            reason = obstacle(module, node)
            if reason:
                raise NoFix(reason)
        target = node.target if isinstance(node, cst.AssignTarget) else None
        setting = target.attr.value if isinstance(target, cst.Attribute) else ""
        if setting in _SETTING and any(isinstance(at, _LOOPS) for at in module.around(node)):
            raise NoFix(f"{setting} changes in a loop")


def _find_loop(around: list[cst.CSTNode], words: str) -> Any:
    """Return the outermost loop, or statement with a comprehension, in the call's function in which the model stays
    the same; None without a loop."""
    root, found = words.partition(".")[0], None
    for node in around:
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            break
        inner = isinstance(node, cst.SimpleStatementLine) and any(isinstance(at, _COMPREHENSIONS) for at in around)
        if not isinstance(node, _LOOPS) and not inner:
            continue
        if root in names.binds([node]) or _sets(node, words):
            break
        found = node
    return found


def _sets(code: cst.CSTNode, words: str) -> bool:
    return any(isinstance(node, cst.AssignTarget) and dotted(node.target) == words for node in walk(code))


def is_repeated(module: Module, function: cst.FunctionDef, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether a loop of the file may call a function: directly, by another function, or by its name alone."""
    name = function.name.value
    if name in seen:
        return True
    for node in module.nodes:
        named = isinstance(node, cst.Name) and node.value == name and node is not function.name
        if not named:
            continue
        around = list(module.around(node))
        if any(isinstance(at, (*_LOOPS, *_COMPREHENSIONS, cst.Lambda)) for at in around):
            return True
        call = next((at for at in around if isinstance(at, cst.Call)), None)
        if call is None or node not in (call.func, getattr(call.func, "attr", None)):
            return True
        outer = next((at for at in around if isinstance(at, cst.FunctionDef)), None)
        if outer is not None and is_repeated(module, outer, seen | {name}):
            return True
    return False


def _find_making(module: Module, words: str, function: Any) -> Any:
    """Return the one statement that makes the model, which runs once for many calls."""
    lines = [
        next(module.around(node))
        for node in module.nodes
        if isinstance(node, cst.Assign) and any(dotted(item.target) == words for item in node.targets)
    ]
    if len(lines) != 1 or not isinstance(lines[0], cst.SimpleStatementLine):
        raise NoFix(f"{words} is not made once in this file")
    around = list(module.around(lines[0]))
    home = next((node for node in around if isinstance(node, cst.FunctionDef)), None)
    if any(isinstance(node, _LOOPS) for node in around) or (home is not None and home is function):
        raise NoFix(f"{words} is made again and again")
    if "." not in words:
        if lines[0] not in module.tree.body:
            raise NoFix(f"{words} is not made at the top level of this file")
        return lines[0]
    owner = next((node for node in around if isinstance(node, cst.ClassDef)), None)
    mine = next((node for node in module.around(function) if isinstance(node, cst.ClassDef)), None)
    if home is None or home.name.value != "__init__" or owner is None or owner is not mine:
        raise NoFix(f"{words} is not made in the class's __init__")
    _check_objects(module, owner)
    return lines[0]


def _check_objects(module: Module, owner: cst.ClassDef) -> None:
    """Raise NoFix unless all that the file does with a class is to make its objects, in no loop: a model that each
    object compiles would be traced for each."""
    uses = [node for node in module.nodes if isinstance(node, cst.Name) and node.value == owner.name.value]
    uses = [node for node in uses if node is not owner.name]
    for node in uses:
        around = list(module.around(node))
        home = next((at for at in around if isinstance(at, cst.FunctionDef)), None)
        called = isinstance(around[0], cst.Call) and around[0].func is node
        again = any(isinstance(at, (*_LOOPS, *_COMPREHENSIONS)) for at in around)
        if not called or again or (home is not None and is_repeated(module, home)):
            raise NoFix(f"{owner.name.value} may be made again and again, and its model be compiled each time")
    if not uses:
        raise NoFix(f"how often {owner.name.value} is made is not seen")


def _check_free(module: Module, name: str) -> None:
    if any(isinstance(node, cst.Name) and node.value == name for node in module.nodes):
        raise NoFix(f"{name} is a name of the file already")


def _statement(module: Module, name: str, words: str, at: cst.CSTNode) -> Any:
    function = module.tree.code_for_node(module.spelled("tensorflow.function", at))
    # The last batch is often smaller, and a text that is being made gets longer.
    return cst.parse_statement(f"{name} = {function}({words}, reduce_retracing=True)")


def _before(module: Module, place: Any, name: str, words: str) -> Edit:
    made = _statement(module, name, words, place)

    def change(node: Any) -> cst.FlattenSentinel:
        return cst.FlattenSentinel(
            [made.with_changes(leading_lines=node.leading_lines), node.with_changes(leading_lines=())]
        )

    return Edit(module.file, place, change)


def _after(module: Module, place: Any, name: str, words: str) -> Edit:
    made = _statement(module, name, words, place)
    return Edit(module.file, place, lambda node: cst.FlattenSentinel([node, made]))


def _rename(module: Module, call: cst.Call, name: str) -> Edit:
    return Edit(module.file, call, lambda node: node.with_changes(func=cst.parse_expression(name)))


FIXER = Fixer(
    "calls the compiled model",
    compile_model,
    "rounding and random numbers of the model may differ; each new shape may be one trace",
    keeps="mathematics",
)
