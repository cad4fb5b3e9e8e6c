"""Why a call missed the cache: the difference from the closest cached trace, by argument or by context.

Works on TensorFlow's live types and returns plain words; nothing of TensorFlow is kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from tfperfkit_probes.retrace.model import Difference, Way
from tfperfkit_probes.tensor_types import Leaf, Names, leaves

#: How far apart one difference puts two traces. A shape is nearer than a dtype, and all of that is nearer than a
#: difference in structure or context.
_WEIGHT: dict[Way, int] = {
    "value": 8,
    "shape": 8,
    "object": 8,
    "alias": 8,
    "dtype": 20,
    "rank": 24,
    "type": 28,
    "structure": 36,
    "keyword": 36,
    "context": 80,
    "unknown": 4,
}
#: The tensors of a batch change their shapes together: each one after the first adds only so much.
_FURTHER_SHAPE = 2
_OTHER_SCOPE = 40
#: Compare with the newest of the cache only: in a function with more traces than this the oldest won't tell more.
MAX_COMPARED = 64


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The closest cached trace: its place among the ``entries``, and what differs from it."""

    index: int
    differences: list[Difference]
    scope_only: bool  # nothing but whether variables may be created: TensorFlow's own second trace


def compare(lookup_type: Any, context: Any, entries: Sequence[Any], names: Names) -> Comparison | None:
    """Find the closest of ``entries`` (with ``function_type`` and ``context``); None if there are none."""
    now = leaves(lookup_type, names)
    best: tuple[int, Comparison] | None = None
    first = max(0, len(entries) - MAX_COMPARED)
    for index in range(len(entries) - 1, first - 1, -1):
        entry = entries[index]
        found = differences(leaves(entry.function_type, names), now)
        circumstances = context_differences(entry.context, context)
        other_scope = getattr(entry.context, "scope_type", None) != getattr(context, "scope_type", None)
        distance = _distance(found + circumstances) + (_OTHER_SCOPE if other_scope else 0)
        if best is None or distance < best[0]:
            scope_only = other_scope and not found and not circumstances
            best = distance, Comparison(index, found + circumstances, scope_only)
        if best[0] == 0:
            break
    if best is None:
        return None
    chosen = best[1]
    if not chosen.differences and not chosen.scope_only:
        unknown = Difference("", "", "the arguments look the same", "unknown")
        return Comparison(chosen.index, [unknown], False)
    return chosen


def _distance(found: Sequence[Difference]) -> int:
    shapes = sum(difference.way == "shape" for difference in found)
    together = max(0, shapes - 1) * (_WEIGHT["shape"] - _FURTHER_SHAPE)
    return sum(_WEIGHT.get(difference.way, 4) for difference in found) - together


def generalized(lookup_type: Any, target_type: Any, names: Names) -> list[Difference]:
    """Return the arguments as ``reduce_retracing`` generalized them before tracing; empty if it changed nothing."""
    if target_type is lookup_type or target_type == lookup_type:
        return []
    before, after = leaves(lookup_type, names), leaves(target_type, names)
    return [
        Difference(path, leaf.argument.text, after[path].argument.text, "shape")
        for path, leaf in before.items()
        if path in after and leaf.kind != "container" and leaf.argument.text != after[path].argument.text
    ]


def differences(before: dict[str, Leaf], after: dict[str, Leaf]) -> list[Difference]:
    """Find the differences between two types, by path. Beneath a container that differs itself nothing more is said."""
    found: list[Difference] = []
    covered: list[str] = []
    for path in list(after) + [path for path in before if path not in after]:
        if any(path.startswith(parent) and path[len(parent)] in "[." for parent in covered if len(path) > len(parent)):
            continue
        old, new = before.get(path), after.get(path)
        difference = _difference(path, old, new)
        if difference is None:
            continue
        found.append(difference)
        if "container" in (old.kind if old else "", new.kind if new else ""):
            covered.append(path)
    return found


def _difference(path: str, old: Leaf | None, new: Leaf | None) -> Difference | None:
    if old is None or new is None:
        present = new or old
        assert present is not None
        way: Way = "keyword" if present.keyword else "structure"
        return Difference(path, old.argument.text if old else "absent", new.argument.text if new else "absent", way)
    if old.kind == "container" and new.kind == "container":
        if type(old.raw) is type(new.raw) and old.argument.text == new.argument.text:
            return None
        return Difference(path, old.argument.text, new.argument.text, "structure")
    if _accepts(old.raw, new.raw):
        return None
    before, after = old.argument.text, new.argument.text
    way = _way(old, new)
    if way == "object" and before == after:
        after += " (another one)"
    return Difference(path, before, after, way)


def _accepts(cached: Any, asked: Any) -> bool:
    """TensorFlow's own rule: a trace serves a call whose types are subtypes of the trace's."""
    try:
        return bool(asked.is_subtype_of(cached))
    except Exception:
        return bool(asked == cached)


def _way(old: Leaf, new: Leaf) -> Way:
    tensors = ("tensor", "variable", "spec")
    if "container" in (old.kind, new.kind):
        return "structure"
    if old.kind in tensors and old.kind == new.kind:
        a, b = old.argument, new.argument
        if a.dtype != b.dtype:
            return "dtype"
        if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
            return "rank" if a.shape != b.shape else "alias" if old.kind == "variable" else "unknown"
        if a.shape != b.shape:
            return "shape"
        return "alias" if old.kind == "variable" else "unknown"
    if old.kind == new.kind == "value":
        return "value"
    if old.kind == new.kind == "object":
        return "object"
    return "type"


def context_differences(before: Any, after: Any) -> list[Difference]:
    """Circumstances under which TensorFlow traces again with the same arguments."""
    old, new = getattr(before, "context", None), getattr(after, "context", None)
    if old is None or new is None or old == new:
        return []
    found: list[Difference] = []

    def add(name: str, was: str, now: str) -> None:
        found.append(Difference(f"context.{name}", was, now, "context"))

    if _get(old, "variable_policy") != _get(new, "variable_policy"):
        add("saved_model", _saving(old), _saving(new))
    if _get(old, "parent_graph") is not _get(new, "parent_graph"):
        was, now = _graph(old), _graph(new)
        add("enclosing_graph", was, f"another {now}" if was == now else now)
    if _get(old, "device_functions") != _get(new, "device_functions") or _cross(old) != _cross(new):
        both = bool(_get(old, "device_functions")) and bool(_get(new, "device_functions"))
        replicas = both and not _cross(old) and not _cross(new)
        add("replica_device" if replicas else "strategy_scope", _strategy(old), _strategy(new))
    if _get(old, "colocation_stack") != _get(new, "colocation_stack"):
        add("colocation", "other colocation", "this colocation")
    if _get(old, "xla_context_id") != _get(new, "xla_context_id"):
        add("xla_context", "another XLA context", "this XLA context")
    return found or [Difference("context", "other circumstances", "these circumstances", "context")]


def _get(context: Any, name: str) -> Any:
    return getattr(context, name, None)


def _cross(context: Any) -> bool:
    return bool(_get(context, "in_cross_replica_context"))


def _saving(context: Any) -> str:
    return "not exporting" if _get(context, "variable_policy") is None else "exporting a SavedModel"


def _graph(context: Any) -> str:
    graph = _get(context, "parent_graph")
    if graph is None:
        return "eager"
    name = getattr(graph, "name", "")
    return f"function graph {name}" if isinstance(name, str) and name else "tf.Graph"


def _strategy(context: Any) -> str:
    devices = _get(context, "device_functions") or ()
    if _cross(context):
        return "inside a strategy's scope"
    if not devices:
        return "outside of a strategy"
    names = [_device(device) for device in devices]
    return "replica on " + (", ".join(name for name in names if name) or "a device")


def _device(device: Any) -> str:
    spec = getattr(device, "_spec", device)
    try:
        text = str(spec.to_string() if hasattr(spec, "to_string") else spec)
    except Exception:
        return ""
    return text.rpartition("/device:")[2] if "/device:" in text else text


#: If a trace has several differences, the one to fix first is named as the cause.
_ORDER: tuple[Way, ...] = (
    "context",
    "structure",
    "keyword",
    "type",
    "object",
    "value",
    "dtype",
    "rank",
    "alias",
    "shape",
    "unknown",
)


def main_difference(cause: Sequence[Difference]) -> Difference | None:
    """Choose the difference that is named as the cause."""
    ranked = sorted(cause, key=lambda d: _ORDER.index(d.way) if d.way in _ORDER else -1)
    return ranked[0] if ranked else None


def changed_dimensions(difference: Difference) -> list[int]:
    """List the dimensions of a tensor, from 0, that differ from the closest trace, read from the printed types."""
    before, after = sizes(difference.before), sizes(difference.after)
    if before is None or after is None or len(before) != len(after):
        return []
    return [axis for axis, (old, new) in enumerate(zip(before, after, strict=True)) if old != new and old != "None"]


def sizes(text: str) -> list[str] | None:
    """Split the sizes in ``f32[32,None]``; None if there are none."""
    inside = text.partition("[")[2].partition("]")[0]
    return inside.split(",") if inside and inside != "?" else None
