"""A loop of the source that makes layers side by side, each of which is called on the same tensor: one layer could be
all of them. Layers behind each other are not: there a turn takes what the one before it made."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.source_calls import files

_LOOPS = (ast.For, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
#: Layers that compute each of their units, or filters, alone.
_BY_UNITS = ("Dense", "Conv1D", "Conv2D", "Conv3D")


class Siblings(NamedTuple):
    """Where the layer of a turn is made, which class of Keras' it is, and the name of what all are called on."""

    place: SourceSpan
    layer: str
    given: str


def sibling_layers(evidence: Evidence) -> Siblings | None:
    """The first such loop."""
    for file, syntax in files(evidence):
        for loop in ast.walk(syntax.tree):
            found = _made_in(syntax, loop) if isinstance(loop, _LOOPS) else None
            if found is not None:
                call, layer, given = found
                return Siblings(SourceSpan(file, call.lineno), layer, given)
    return None


def _made_in(syntax: Syntax, loop: ast.AST) -> tuple[ast.Call, str, str] | None:
    bound = {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    for call in ast.walk(loop):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Call) or not call.args:
            continue
        layer = syntax.name(call.func.func).removeprefix("keras.layers.")
        given = call.args[0]
        if layer in _BY_UNITS and isinstance(given, ast.Name) and given.id not in bound:
            return call, layer, given.id
    return None
