"""Find a loop that makes several layers and calls each on the same tensor, so that one layer could replace them all.

Layers in a chain are not such layers: there an iteration takes what the one before it made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import find_nodes, list_bound_names
from tfperfkit_rules.measures.source_calls import files

#: Layers that compute each of their units, or filters, independently.
_BY_UNITS = ("Dense", "Conv1D", "Conv2D", "Conv3D")


class Siblings(NamedTuple):
    """Where the layer of an iteration is made, its Keras class, and the name of what all are called on."""

    place: SourceSpan
    layer: str
    given: str


def sibling_layers(evidence: Evidence) -> Siblings | None:
    """Find the first such loop."""
    return next((found for file, syntax in files(evidence) for found in _find_siblings(file, syntax)), None)


def _find_siblings(file: str, syntax: Syntax) -> Iterator[Siblings]:
    for loop in (item.node for item in syntax.loops if item.head is not None and item.node is not None):
        bound = list_bound_names(loop)
        for call in find_nodes(loop, ast.Call):
            layer = syntax.name(call.func.func).removeprefix("keras.layers.") if isinstance(call.func, ast.Call) else ""
            given = call.args[0] if call.args else None
            if layer in _BY_UNITS and isinstance(given, ast.Name) and given.id not in bound:
                yield Siblings(SourceSpan(file, call.lineno), layer, given.id)
