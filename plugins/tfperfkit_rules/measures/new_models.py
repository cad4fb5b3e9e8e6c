"""Find models that a loop makes again in each iteration and trains: a search, the folds of a cross-validation."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.measures.source_calls import find_methods
from tfperfkit_rules.measures.source_text import Function, Loop, find_evaluating_loops


def find_new_models(evidence: Evidence) -> list[SourceSpan]:
    """Find the lines that make a model in the same loop in which ``fit`` is called on it."""
    found = []
    for file, call in find_methods(evidence, "fit"):
        made = find_making_line(call, find_evaluating_loops(evidence, file, call))
        if made is not None:
            found.append(SourceSpan(file, made))
    return list(dict.fromkeys(found))


def find_making_line(call: Call, around: Iterable[Loop | Function]) -> int | None:
    """Find the line, in one of these loops or functions, that makes the object whose method is called; None if the
    object is made elsewhere, or in an unknown place."""
    owner = call.receiver
    made = [item.line for item in owner.assigned if item.kind == "call"] if owner and owner.kind == "name" else []
    inside = [line for line in made if any(line in item.lines for item in around)]
    return inside[0] if inside and len(inside) == len(made) else None
