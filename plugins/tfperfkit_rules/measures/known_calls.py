"""Find the calls of objects whose classes the source does not show, by the frames of libraries that samples saw below
them."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.effects import find_effect
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.iteration import KnownCalls
from tfperfkit_rules.measures.called import EVALUATE, LAYER, PREDICT, find_call, is_calling
from tfperfkit_rules.measures.source_text import find_running_calls

_KNOWN: WeakKeyDictionary[Evidence, dict[str, KnownCalls]] = WeakKeyDictionary()
_NAMES = {LAYER: "layer.__call__", PREDICT: "layer.predict", EVALUATE: "layer.evaluate"}
#: Types of the table of effects, by the modules that define their methods.
_TYPES = {
    "keras.src.layers.": "layer",
    "keras.src.models.": "layer",
    "pandas.core.": "frame",
    "scipy.sparse.": "sparse",
    "transformers.": "tokenizer",
}


def find_known_calls(evidence: Evidence, file: str) -> KnownCalls:
    """Return the calls of a file that were seen to be of a model, a table or the like, by their names in the table of
    effects."""
    known = _KNOWN.setdefault(evidence, {})
    if file not in known:
        frames = {frame for stack in evidence.samples.stacks for frame in stack.frames if frame.file == file}
        seen = {
            calls[0].node: name
            for frame in frames
            if (name := _name_method(frame)) and (calls := _find(evidence, frame))
        }
        known[file] = seen | {
            call.node: name
            for frame in frames
            for api, name in _NAMES.items()
            if frame.calls
            and is_calling(evidence, frame, api)
            and (call := find_call(evidence, frame, api)) is not None
        }
    return known[file]


def _name_method(frame: Frame) -> str:
    """Name the method of a library that a frame called, as the table of effects has it; "" if it has none."""
    module, _, method = frame.calls[0].rpartition(":") if frame.calls else ("", "", "")
    kind = next((kind for prefix, kind in _TYPES.items() if f"{module}.".startswith(prefix)), "")
    name = f"{kind}.{method}"
    return name if kind and find_effect(name) is not None else ""


def _find(evidence: Evidence, frame: Frame) -> list[Call]:
    """Find the call that a frame was in, if it is of a method with that name: ``table.to_numpy()``."""
    calls = find_running_calls(evidence, frame)
    method = (frame.calls or ("",))[0].rpartition(":")[2]
    return [call for call in calls if call.function.last_name == method and call.receiver is not None]
