"""Models that a loop of the person's makes anew at each turn, and trains: a search, the folds of a validation."""

from __future__ import annotations

import ast

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.source_calls import methods
from tfperfkit_rules.measures.source_text import Loop, evaluating_loops


def new_models(evidence: Evidence) -> list[SourceSpan]:
    """The lines that make a model in the same loop in which ``fit`` is called on it."""
    found = []
    for file, call in methods(evidence, "fit"):
        around = evaluating_loops(evidence, file, call)
        made = made_in(evidence, file, call, around)
        if made is not None:
            found.append(SourceSpan(file, made))
    return list(dict.fromkeys(found))


def made_in(evidence: Evidence, file: str, call: ast.Call, around: tuple[Loop, ...]) -> int | None:
    """The line inside one of these loops at which the object is made whose method is called; None where it is made
    elsewhere, or nothing tells where."""
    syntax = evidence.syntax(file)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if syntax is None or not isinstance(owner, ast.Name):
        return None
    made = [node.lineno for node in syntax.bound_to(owner) if isinstance(node, ast.Call)]
    inside = [line for line in made if any(loop.line <= line <= loop.last for loop in around)]
    return inside[0] if inside and len(inside) == len(made) else None
