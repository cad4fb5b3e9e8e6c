"""What calls of ``session.run`` in scripts of TensorFlow 1 fetch and are fed, as the source tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.records.samples import Place
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.called import called_at
from tfperfkit_rules.measures.session_calls import SESSION

#: Functions of TensorFlow that do a layer's work.
_LAYERS = frozenset(
    {"matmul", "tensordot", "einsum", "dense", "fully_connected", "conv1d", "conv2d", "conv3d", "convolution"}
    | {"separable_conv2d", "depthwise_conv2d", "dynamic_rnn", "static_rnn"}
)
_TRAINS = frozenset({"minimize", "apply_gradients"})


class Fetches(NamedTuple):
    """``layers``: what does a layer's work on the way to the fetches; ``trains``: one updates weights; ``fed``: what
    each placeholder gets, as it is written."""

    layers: frozenset[ast.expr]
    trains: bool
    fed: frozenset[tuple[str, str]]

    def shares(self, other: Fetches) -> bool:
        """Whether one call could fetch both: one feed is enough for both, and both run the same layers."""
        same = bool(self.fed) and (self.fed <= other.fed or other.fed <= self.fed)
        return same and bool(self.layers & other.layers) and not (self.trains and other.trains)


def fetches_at(evidence: Evidence, place: Place) -> Fetches | None:
    """Of the call at a line; None where the source does not tell what it is fed, or where that is made for it alone."""
    syntax, call = evidence.syntax(place[0]), called_at(evidence, place, SESSION)
    if syntax is None or call is None or not call.args:
        return None
    given = next((word.value for word in call.keywords if word.arg == "feed_dict"), None)
    given = given if given is not None else next(iter(call.args[1:2]), None)
    found = syntax.bound_to(given) if given is not None else []
    if len(found) != 1 or not isinstance(found[0], ast.Dict) or any(isinstance(each, ast.Call) for each in _all(found)):
        return None
    pairs = [(key, value) for key, value in zip(found[0].keys, found[0].values, strict=True) if key is not None]
    met = _behind(syntax, call.args[0])
    calls = [node for node in met if isinstance(node, ast.Call)]
    return Fetches(
        layers=frozenset(node for node in met if _is_layer(syntax, node)),
        trains=any(isinstance(each.func, ast.Attribute) and each.func.attr in _TRAINS for each in calls),
        fed=frozenset((ast.unparse(key), ast.unparse(value)) for key, value in pairs),
    )


def _all(nodes: list[ast.expr]) -> Iterator[ast.AST]:
    return (each for node in nodes for each in ast.walk(node))


def _behind(syntax: Syntax, node: ast.expr) -> set[ast.expr]:
    """The expressions that one is made of, by the names in it."""
    met: set[ast.expr] = set()
    left = [node]
    while left:
        for each in ast.walk(left.pop()):
            if isinstance(each, ast.expr) and each not in met:
                met.add(each)
                if isinstance(each, (ast.Name, ast.Attribute)):
                    left += [item for item in syntax.bound_to(each) if item not in met]
    return met


def _is_layer(syntax: Syntax, node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    if not isinstance(node, ast.Call):
        return False
    name = syntax.name(node.func)
    return name.startswith(("tensorflow.", "keras.")) and (
        name.rpartition(".")[2] in _LAYERS or name.startswith(("keras.layers.", "keras.Sequential()", "keras.Model()"))
    )
