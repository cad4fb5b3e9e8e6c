"""The colours of the parts of accounts and of what pictures show, each with one meaning; and the style for them.

They were searched for by chance: any two parts of one bar are at least 12 apart in CIE Lab for a reader with
deuteranopia (simulated as by Machado, Oliveira and Fernandes 2009), and differ in lightness. A test holds this.
"""

from __future__ import annotations

from tfperfkit.records.parts import PARTS, RUN_PARTS

#: (in light, in dark) of the parts of steps, runs and starts.
BARS: dict[str, tuple[str, str]] = {
    "input": ("#11426a", "#3977cd"),
    "python": ("#97431b", "#e0805d"),
    "dispatch": ("#a67b92", "#cc69a1"),
    "eager_ops": ("#a06a00", "#f1c557"),
    "graph": ("#47a86a", "#7ff3aa"),
    "tracing": ("#4e207d", "#887cc4"),
    "host_sync": ("#bc446a", "#ea9295"),
    "copies": ("#536c31", "#32a8fe"),
    "collectives": ("#468ef0", "#8bbcee"),
    "saving": ("#b1733f", "#ffac74"),
    "gc": ("#1e512c", "#4e859a"),
    "evaluate": ("#006067", "#98e0e9"),
    "other": ("#4e4e4e", "#b1b1b1"),
    "imports": ("#753743", "#6dd8b9"),
    "building": ("#b25ba8", "#ad6b9f"),
    "training": ("#418345", "#bbe6b9"),
    "between": ("#595e90", "#7baca6"),
    "prediction": ("#4144a3", "#cfb587"),
    "tensorflow": ("#c97597", "#3cbbfb"),
    "freeing": ("#8b57b8", "#50a375"),
    "children": ("#7b7ce5", "#28bac7"),
    "ending": ("#00ab6d", "#80d7ff"),
    "tfperf": ("#334c1b", "#919023"),
    "warm_steps": ("#c74159", "#a2a6cd"),
    "first_runs": ("#4e5826", "#20a360"),
    "first_steps": ("#4a386b", "#96e493"),
    "not_sampled": ("#686868", "#7c7c7c"),
    "importing_tf": ("#4c9adc", "#a3adf5"),
}
#: (in light, in dark) of boxes and lines in pictures outside of bars.
PICTURES: dict[str, tuple[str, str]] = {
    "library": ("#7d8794", "#5d6672"),
    "xla": ("#6a3d8f", "#b58be0"),
    "device": ("#1f6f8b", "#58a9c7"),
    "layer": ("#2c6e9e", "#79b4dc"),
    "function": ("#9a4f72", "#d990b4"),
    "backward": ("#7446a6", "#bd9af0"),
    "clean": ("#2b7a5b", "#69c79f"),
    "warmup": ("#7a5ba8", "#a995d8"),
    "probe": ("#2f74b0", "#7db8ea"),
    "settle": ("#8a8d93", "#8e949c"),
    "line_1": ("#0b67a3", "#6fb9ea"),
    "line_2": ("#b04a00", "#f29a5c"),
    "line_3": ("#0a6e50", "#5bcda4"),
    "line_4": ("#6d3aa8", "#c3a0ee"),
}
#: Parts that have the colour of what means the same, or a name that a style can't have.
_COLORS = {
    "data": "python", "validation": "evaluate", "not sampled": "not_sampled", "other imports": "imports",
    "importing TensorFlow": "importing_tf", "data and other Python": "python", "building and setting up": "building",
    "loading and saving": "saving", "the steps themselves": "warm_steps", "compile and first runs": "first_runs",
    "first steps": "first_steps",
}  # fmt: skip
#: The colour of each kind of box in flame graphs and icicles.
_KINDS = {
    "own": "python", "compiled": "graph", "library": "library", "all": "other", "eager": "eager_ops", "graph": "graph",
    "forward": "graph", "xla": "xla", "device": "device", "function": "function", "layer": "layer",
    "backward": "backward", "rest": "other",
}  # fmt: skip
#: At this relative luminance (WCAG 2) white and black text have the same contrast.
_MIDDLE = 0.179


def color_of(part: str) -> str:
    """Return the name of a part's colour in the page's style."""
    return _COLORS.get(part, part if part in PARTS or part in RUN_PARTS else "other")


def paint_of(color: str) -> str:
    """Return a colour as it is in light, for a page without a style sheet."""
    return BARS.get(color, BARS["other"])[0]


def text_on(paint: str) -> str:
    """Return black or white, whichever has more contrast on a colour such as ``#3a8a64``."""
    return "#000000" if luminance(paint) > _MIDDLE else "#ffffff"


def luminance(paint: str) -> float:
    """Return the relative luminance (0 to 1) of a colour, as WCAG 2 defines it."""
    channels = [int(paint[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def write_style() -> str:
    """Return the variables ``--c-NAME`` (a colour) and ``--t-NAME`` (text on it), and the boxes' classes."""
    blocks = []
    for number, root in enumerate((":root", ':root[data-theme="dark"]')):
        variables = "".join(
            f"--c-{name}:{both[number]};--t-{name}:{text_on(both[number])};" for name, both in (BARS | PICTURES).items()
        )
        blocks.append(f"{root}{{{variables}}}")
    for kind, color in _KINDS.items():
        blocks.append(f".k-{kind}{{background:var(--c-{color})!important;color:var(--t-{color})!important}}")
    return "\n".join(blocks)
