"""Find the calls of models whose objects the source does not show, by the Keras frames that samples saw below them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from tfperfkit.rule import Evidence
from tfperfkit.syntax.iteration import KnownCalls
from tfperfkit_rules.measures.called import EVALUATE, LAYER, PREDICT, find_call, is_calling

_KNOWN: WeakKeyDictionary[Evidence, dict[str, KnownCalls]] = WeakKeyDictionary()
_NAMES = {LAYER: "layer.__call__", PREDICT: "layer.predict", EVALUATE: "layer.evaluate"}


def find_known_calls(evidence: Evidence, file: str) -> KnownCalls:
    """Return the calls of a file that were seen to be of a model, by their names in the table of effects."""
    known = _KNOWN.setdefault(evidence, {})
    if file not in known:
        frames = {frame for stack in evidence.samples.stacks for frame in stack.frames if frame.file == file}
        known[file] = {
            call.node: name
            for frame in frames
            for api, name in _NAMES.items()
            if frame.calls
            and is_calling(evidence, frame, api)
            and (call := find_call(evidence, frame, api)) is not None
        }
    return known[file]
