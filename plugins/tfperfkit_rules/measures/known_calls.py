"""Calls of models whose objects the source does not tell, by the frames of Keras that samples saw below them."""

from __future__ import annotations

import ast
from weakref import WeakKeyDictionary

from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.called import EVALUATE, LAYER, PREDICT, call_of, calls

_KNOWN: WeakKeyDictionary[Evidence, dict[str, dict[ast.Call, str]]] = WeakKeyDictionary()
_NAMES = {LAYER: "layer.__call__", PREDICT: "layer.predict", EVALUATE: "layer.evaluate"}


def known_calls(evidence: Evidence, file: str) -> dict[ast.Call, str]:
    """Return the calls of a file that were seen to be of a model, by their names in the table of effects."""
    if evidence not in _KNOWN:
        _KNOWN[evidence] = {}
    known = _KNOWN[evidence]
    if file not in known:
        known[file] = {}
        frames = {frame for stack in evidence.samples.stacks for frame in stack.frames if frame.file == file}
        for frame in frames:
            for api, name in _NAMES.items():
                call = call_of(evidence, frame, api) if frame.calls and calls(evidence, frame, api) else None
                if call is not None:
                    known[file][call] = name
    return known[file]
