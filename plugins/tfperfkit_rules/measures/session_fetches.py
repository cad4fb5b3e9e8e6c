"""Read from the source what calls of ``session.run`` in TensorFlow 1 scripts fetch and are fed."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tfperfkit.records.samples import Place
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import find_nodes, get_argument, get_method
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
    """Read the call at a line; None if the source does not show what it is fed, or if that is made for it alone."""
    syntax, call = evidence.syntax(place[0]), called_at(evidence, place, SESSION)
    if syntax is None or call is None or not call.args:
        return None
    given = get_argument(call, "feed_dict", 1)
    found = syntax.bound_to(given) if given is not None else []
    if len(found) != 1 or not isinstance(found[0], ast.Dict) or find_nodes(found[0], ast.Call):
        return None
    pairs = [(key, value) for key, value in zip(found[0].keys, found[0].values, strict=True) if key is not None]
    met = _collect_parts(syntax, call.args[0])
    return Fetches(
        layers=frozenset(node for node in met if _is_layer(syntax, node)),
        trains=any(get_method(node) in _TRAINS for node in met),
        fed=frozenset((ast.unparse(key), ast.unparse(value)) for key, value in pairs),
    )


def _collect_parts(syntax: Syntax, node: ast.expr) -> set[ast.expr]:
    """Collect the expressions that an expression is made of, also through the names in it."""
    met: set[ast.expr] = set()
    left = [node]
    while left:
        for each in find_nodes(left.pop(), ast.expr):
            if each not in met:
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
