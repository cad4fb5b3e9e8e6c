"""A picture of predictions: measured to the right, predicted upwards, both by ratio, as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

#: Sides of the picture in its own units, and the factors at its ends.
_SIZE, _MARGIN, _LOW, _HIGH = 560, 60, 1.0, 100.0
_TICKS = (1, 2, 5, 10, 20, 50, 100)
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777", "#332288", "#dd7733")


class Point(NamedTuple):
    """A prediction: ``bounds`` as a line, its middle as a circle of its family's colour; ``hollow``: without a fill."""

    family: str
    label: str
    measured: float
    predicted: float
    bounds: tuple[float, float] | None = None
    hollow: bool = False


def scatter(points: Sequence[Point], title: str, hollow: str = "") -> str:
    """The SVG, with a key of the families; ``hollow``: what a circle without a fill means, in words.

    Factors beyond the ends are drawn at the ends.
    """
    families = sorted({point.family for point in points})
    colour = {name: _COLOURS[index % len(_COLOURS)] for index, name in enumerate(families)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}"',
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_SIZE}" height="{_SIZE}" fill="#ffffff"/>',
    ]
    right, up = _scale(False), _scale(True)
    for tick in _TICKS:
        parts.append(_line(right(tick), up(_LOW), right(tick), up(_HIGH), "#dddddd"))
        parts.append(_line(right(_LOW), up(tick), right(_HIGH), up(tick), "#dddddd"))
        parts.append(f'<text x="{right(tick):.1f}" y="{up(_LOW) + 18:.1f}" text-anchor="middle">{tick}</text>')
        parts.append(f'<text x="{right(_LOW) - 8:.1f}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    parts.append(_line(right(_LOW), up(_LOW), right(_HIGH), up(_HIGH), "#555555"))
    parts.append(f'<text x="{_SIZE / 2}" y="{_SIZE - 12}" text-anchor="middle">measured</text>')
    middle = f"14 {_SIZE / 2}"
    parts.append(f'<text transform="translate({middle}) rotate(-90)" text-anchor="middle">predicted</text>')
    for point in points:
        fill, x = colour[point.family], right(point.measured)
        if point.bounds:
            parts.append(_line(x, up(point.bounds[0]), x, up(point.bounds[1]), fill))
        at = f'cx="{x:.1f}" cy="{up(point.predicted):.1f}"'
        how = f'fill="#ffffff" stroke="{fill}"' if point.hollow else f'fill="{fill}"'
        parts.append(f'<circle {at} r="4" {how}><title>{escape(point.label)}</title></circle>')
    for index, name in enumerate(families):
        top = _MARGIN + 16 + 18 * index
        parts.append(f'<circle cx="{_MARGIN + 16}" cy="{top}" r="4" fill="{colour[name]}"/>')
        parts.append(f'<text x="{_MARGIN + 26}" y="{top + 4}">{escape(name)}</text>')
    if hollow:
        top = _MARGIN + 16 + 18 * len(families)
        parts.append(f'<circle cx="{_MARGIN + 16}" cy="{top}" r="4" fill="#ffffff" stroke="#555555"/>')
        parts.append(f'<text x="{_MARGIN + 26}" y="{top + 4}">{escape(hollow)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _scale(upwards: bool) -> Callable[[float], float]:
    def place(value: float) -> float:
        share = math.log(min(max(value, _LOW), _HIGH) / _LOW) / math.log(_HIGH / _LOW)
        along = _MARGIN + share * (_SIZE - 2 * _MARGIN)
        return _SIZE - along if upwards else along

    return place


def _line(x1: float, y1: float, x2: float, y2: float, stroke: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"/>'
