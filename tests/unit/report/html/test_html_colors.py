"""Colours of the page: told apart without red and green, with one meaning each, and with legible text on them."""

from __future__ import annotations

from itertools import combinations
from typing import Any, get_args

import numpy as np
import pytest

from tfperfkit.records.parts import PARTS, RUN_PARTS, StartPart
from tfperfkit.report.html.colors import BARS, PICTURES, color_of, luminance, text_on

#: Deuteranopia in linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
#: The parts of one bar: any two can be neighbours, since bars are in order of size.
TOGETHER: dict[str, list[str]] = {"step": list(PARTS), "run": list(RUN_PARTS), "start": list(get_args(StartPart))}
#: The parts that take most of most steps.
COMMON = ("graph", "python", "dispatch", "eager_ops", "input", "other")


def lab(paint: str, seen: Any = None) -> Any:
    """Return a colour in CIE Lab (D65), as it is or as the matrix ``seen`` shows it."""
    channels = np.array([int(paint[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    if seen is not None:
        linear = np.clip(np.asarray(seen) @ linear, 0, 1)
    xyz = np.asarray(XYZ) @ linear / [0.95047, 1.0, 1.08883]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("bar", TOGETHER)
def test_neighbours_are_told_apart_without_red_and_green(bar: str, theme: int) -> None:
    colors = {color_of(part): BARS[color_of(part)][theme] for part in TOGETHER[bar]}
    assert len(colors) == len(TOGETHER[bar])
    for (one, a), (two, b) in combinations(colors.items(), 2):
        assert np.linalg.norm(lab(a, DEUTERANOPIA) - lab(b, DEUTERANOPIA)) >= 12, (one, two)
        assert abs(lab(a)[0] - lab(b)[0]) >= 1.5, (one, two)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_common_parts_are_steps_of_lightness(theme: int) -> None:
    lightness = sorted(lab(BARS[part][theme])[0] for part in COMMON)
    assert min(np.diff(lightness)) >= 4


def test_a_color_has_one_meaning() -> None:
    every = BARS | PICTURES
    for theme in (0, 1):
        assert len({both[theme] for both in every.values()}) == len(every)


def test_text_is_legible_on_each() -> None:
    for both in (BARS | PICTURES).values():
        for paint in both:
            light, dark = sorted((luminance(paint), luminance(text_on(paint))), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, paint
