"""The first statements of a method, if they use nothing but what its object has since ``__init__``, computed there."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.attributes import check_constant_state, explain_varying
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, walk


def fix(case: Case) -> list[Edit]:
    """At the first place in a method with such statements that one of the finding's places is in."""
    reason = NoFix("its place is not in a method of a class with __init__")
    lines = {(span.file, span.line) for span in case.finding.where}
    for module, span in case.places():
        for function in (node for node in module.nodes if isinstance(node, cst.FunctionDef)):
            if not module.spans(function, span.line):
                continue
            try:
                return _hoist(module, function, {line for file, line in lines if file == module.file})
            except NoFix as error:
                reason = error
    raise reason


def _hoist(module: Module, function: cst.FunctionDef, lines: set[int]) -> list[Edit]:
    owner = next((node for node in module.around(function) if isinstance(node, cst.ClassDef)), None)
    init = next((item for item in (owner.body.body if owner else ()) if isinstance(item, cst.FunctionDef)
                 and item.name.value == "__init__"), None)  # fmt: skip
    if owner is None or init is None or function is init or function not in owner.body.body:
        raise NoFix("its place is not in a method of a class with __init__")
    if any(isinstance(node, cst.Return) for node in walk(init.body)) or not isinstance(init.body, cst.IndentedBlock):
        raise NoFix("__init__ returns before its end")
    check_constant_state(module, owner)
    body = list(function.body.body)
    fixed, refused = _find_fixed(module, function, body)
    block = [item for item in body if item in fixed]
    rest = [item for item in body if item not in fixed]
    if not any(module.spans(item, line) for item in block for line in lines):
        raise NoFix(refused or "nothing at its place stays the same for an object")
    if not any(isinstance(node, cst.Call) for item in block for node in walk(item)):
        raise NoFix("what stays the same for an object takes no time")
    made = names.binds(block)
    used = sorted(made & set().union(set(), *(names.read(item) for item in rest)))
    if made & names.binds(rest) or not used:
        raise NoFix("what would be kept gets another value, or nothing uses it")
    return _edits(module, function, init, block, used)


def _find_fixed(module: Module, function: cst.FunctionDef, body: list[Any]) -> tuple[set[Any], str]:
    """Return the assignments that give the same in each call, and why the first other one doesn't."""
    local = names.parameters(function) | names.binds(body)
    fixed: set[Any] = set()
    known: set[str] = set()
    refused = ""
    for item in body:
        only = item.body[0] if isinstance(item, cst.SimpleStatementLine) and len(item.body) == 1 else None
        if not isinstance(only, cst.Assign) or len(only.targets) != 1:
            continue
        target = only.targets[0].target
        given = {at.value for at in names.plain_names(target)}
        if not given or sum(given <= names.gives(node) for node in walk(function.body)) > 1:
            continue
        why = explain_varying(module, only.value, known, local)
        refused = refused or why
        if not why:
            fixed.add(item)
            known |= given
    return fixed, refused


def _edits(
    module: Module, function: cst.FunctionDef, init: cst.FunctionDef, block: list[Any], used: list[str]
) -> list[Edit]:
    name = f"_prepare_{function.name.value.strip('_')}"
    attributes = [f"self._{item.strip('_')}" for item in used]
    text = module.tree.code
    if f"def {name}" in text or any(f"{item} =" in text for item in attributes):
        raise NoFix(f"the class has {name} or {attributes[0]} already")
    given, kept = ", ".join(used), ", ".join(attributes)
    inside = [block[0].with_changes(leading_lines=()), *block[1:], cst.parse_statement(f"return {given}")]
    prepare = cst.FunctionDef(
        cst.Name(name),
        cst.Parameters([cst.Param(cst.Name("self"))]),
        cst.IndentedBlock(inside),
        leading_lines=[cst.EmptyLine(indent=False)],
    )
    call = cst.parse_statement(f"{kept} = self.{name}()")
    read = cst.parse_statement(f"{given} = {kept}")

    def add_call(node: Any) -> cst.FlattenSentinel:
        body = node.body.with_changes(body=[*node.body.body, call])
        return cst.FlattenSentinel([node.with_changes(body=body), prepare])

    return [
        Edit(module.file, init, add_call),
        Edit(module.file, block[0], lambda node: read.with_changes(leading_lines=node.leading_lines)),
        *(Edit(module.file, item, lambda node: cst.RemoveFromParent()) for item in block[1:]),
    ]


FIXER = Fixer(
    "computes it once for each object, in __init__",
    fix,
    "what is computed stays as it was when the object was made, also if another file changes the object",
    keeps="mathematics",
)
