"""The colours of the parts of accounts: by their names in the page's style, and painted."""

from __future__ import annotations

from tfperfkit.records.parts import PARTS

#: Parts of the run and of the start in the colours of what is like them in a step.
_COLORS = {
    "imports": "copies", "data": "python", "building": "dispatch", "training": "graph", "between": "saving",
    "validation": "evaluate", "prediction": "evaluate", "tensorflow": "eager_ops", "children": "collectives",
    "ending": "other", "tfperf": "gc", "not sampled": "other", "other imports": "copies",
    "importing TensorFlow": "input", "data and other Python": "python", "building and setting up": "dispatch",
    "loading and saving": "saving", "the steps themselves": "graph", "compile and first runs": "host_sync",
    "first steps": "eager_ops", "freeing": "other",
}  # fmt: skip
#: Where a page's own colours are not at hand: on each, white words can be read.
_PAINT = {
    "input": "#0b67a3", "python": "#b04a00", "dispatch": "#8d4668", "eager_ops": "#7a5c00", "graph": "#0a6e50",
    "tracing": "#6d3aa8", "host_sync": "#a82a55", "copies": "#45618f", "collectives": "#2f6b7c", "saving": "#6a5843",
    "gc": "#56640a", "evaluate": "#04677a", "other": "#5f656e",
}  # fmt: skip


def color_of(part: str) -> str:
    """Return the name of a part's colour in the page's style."""
    return part if part in PARTS else _COLORS.get(part, "other")


def paint_of(color: str) -> str:
    """A colour of the style as it is in light, for where there is no style sheet."""
    return _PAINT.get(color, _PAINT["other"])
