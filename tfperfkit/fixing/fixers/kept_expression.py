"""A call in the middle of a statement, whose result is kept by a function with ``functools.cache``.

A candidate: the source shows neither that equal arguments give an equal result nor that they can be keys of a cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.hoist import import_functools
from tfperfkit.fixing.module import Module, dotted, method, walk
from tfperfkit.fixing.order import find_effect_of
from tfperfkit.fixing.repeatable import check_repeatable, check_reusable

_NO_CALLS = frozenset({"run"})
#: Values of a function's own that are plain, whatever they are parts of.
_PLAIN = frozenset({"shape", "ndim", "dtype", "name"})
_INNER = (cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def keep_expression(case: Case) -> list[Edit]:
    """At the first place with a call that reads only the object, parameters and names of the file, or with operations
    that ``session.run`` gets."""
    reason = NoFix("no call at its places reads only parameters and names of the file")
    for module, span in case.places():
        found: list[tuple[int, Any, list[Edit]]] = []
        for value in _find_values(module, span.line):
            try:
                found.append(_keep(module, value))
            except NoFix as error:
                reason = error
        if found:
            _, value, edits = min(found, key=lambda item: item[0])
            case.assumed.append(f"{shorten(module, value)} gives the same whenever its arguments are the same")
            return edits
    raise reason


def _find_values(module: Module, line: int) -> Iterator[Any]:
    """Yield the expressions of a line that may be kept, the outer ones first."""
    for statement in module.lines_at(line):
        for node in walk(statement):
            if not isinstance(node, cst.Call) or any(isinstance(item, _INNER) for item in module.around(node)):
                continue
            if method(node) in _NO_CALLS and node.args:
                yield node.args[0].value
            else:
                yield node


def _keep(module: Module, value: Any) -> tuple[int, Any, list[Edit]]:
    """Return how many values apart from the object itself an expression reads, the expression, and its edits."""
    around = list(module.around(value))
    function = next((node for node in around if isinstance(node, cst.FunctionDef)), None)
    home: Any = next((node for node in around if node in module.tree.body), None)
    if home is None or (function is None and not isinstance(home, (cst.For, cst.While))):
        raise NoFix("it is in no loop and in no function of the file")
    if any(isinstance(node, (cst.Await, cst.Yield, cst.NamedExpr)) for node in walk(value)):
        raise NoFix("it waits, or gives a name a value")
    if find_effect_of(module, value):
        raise NoFix("it changes or writes something")
    scope = function.body if function is not None else home
    given = names.parameters(function) if function is not None else set()
    parts = _find_parts(module, value, given | names.binds([scope]))
    unknown = [part for part in parts if not _is_key(part, given, names.binds([scope]))]
    if unknown:
        raise NoFix(f"{module.tree.code_for_node(unknown[0])} is another value in each call")
    check_repeatable(module, value)
    check_reusable(module, value, scope)
    parameters = _name_parts(module, parts)
    inside = value.visit(_Replace(parts, parameters)) if not isinstance(value, cst.Name) else value
    helper = _name_helper(module, value)
    made = cst.FunctionDef(
        cst.Name(helper),
        cst.Parameters([cst.Param(cst.Name(name)) for name in dict.fromkeys(parameters)]),
        cst.IndentedBlock([cst.SimpleStatementLine([cst.Return(inside)])]),
        decorators=[cst.Decorator(cst.parse_expression("functools.cache"))],
        leading_lines=home.leading_lines,
    )
    first = dict(reversed(list(zip(parameters, parts, strict=True))))
    call = cst.Call(cst.Name(helper), [cst.Arg(first[name]) for name in dict.fromkeys(parameters)])
    apart = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
    others = sum((dotted(part) or "").partition(".")[0] != "self" for part in parts)
    edits = [
        Edit(module.file, value, lambda node: call),
        Edit(module.file, home, lambda node: cst.FlattenSentinel([made, node.with_changes(leading_lines=apart)])),
        *import_functools(module),
    ]
    return others, value, edits


def _find_parts(module: Module, value: cst.CSTNode, local: set[str]) -> list[Any]:
    """Return the parts of an expression that hold local values, each as long as it has no call: ``self.net.probs``."""
    found: list[Any] = []
    pending: list[tuple[cst.CSTNode, bool]] = [(value, False)]
    while pending:
        node, called = pending.pop()
        if isinstance(node, cst.Arg):
            pending.append((node.value, False))
        elif isinstance(node, cst.Call):
            pending += [(item, False) for item in reversed(node.args)] + [(node.func, True)]
        elif isinstance(node, cst.Attribute) and called:
            pending.append((node.value, False))
        elif isinstance(node, cst.Name) or (isinstance(node, cst.Attribute) and dotted(node)):
            if (dotted(node) or "").partition(".")[0] in local:
                found.append(node)
        else:
            pending += [(child, False) for child in reversed(node.children)]
    return found


def _is_key(part: Any, given: set[str], bound: set[str]) -> bool:
    """Return whether a value may be the same in several calls: it is of a parameter that the function does not set, or
    the shape of something."""
    words = (dotted(part) or "").split(".")
    return (words[0] in given and words[0] not in bound) or bool(_PLAIN & set(words[1:]))


def _name_parts(module: Module, parts: list[Any]) -> list[str]:
    """Return a parameter's name for each part; equal parts have one name."""
    found: dict[str, str] = {}
    for part in parts:
        text = module.tree.code_for_node(part)
        name = text.rpartition(".")[2]
        if text not in found and name in found.values():
            name = text.replace(".", "_")
        found.setdefault(text, name)
    return [found[module.tree.code_for_node(part)] for part in parts]


class _Replace(cst.CSTTransformer):  # type: ignore[misc]
    """Replace parts by names."""

    def __init__(self, parts: list[Any], parameters: list[str]) -> None:
        super().__init__()
        self._names = dict(zip(parts, parameters, strict=True))

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        name = self._names.get(original_node)
        return cst.Name(name) if name is not None else super().on_leave(original_node, updated_node)


def _name_helper(module: Module, value: Any) -> str:
    """Return a name that the file does not have: after the function that is called."""
    word = (method(value) or dotted(value.func) or "value") if isinstance(value, cst.Call) else "fetches"
    taken = {node.value for node in module.nodes if isinstance(node, cst.Name)}
    for name in (f"_{word.strip('_').lower()}_once", f"_{word.strip('_').lower()}_kept"):
        if name not in taken:
            return name
    raise NoFix(f"_{word}_once is a name of the file already")


def shorten(module: Module, value: cst.CSTNode) -> str:
    """Return the code of a node on one line."""
    text = " ".join(module.tree.code_for_node(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


FIXER = Fixer(
    "computes it once for the same arguments",
    keep_expression,
    "all callers share one result: what one changes in it stays changed; results stay in memory",
    keeps="mathematics",
)
