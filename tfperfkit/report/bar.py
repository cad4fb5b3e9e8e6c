"""The bar of the parts that a step, or a work outside of steps, is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.text import Text

from tfperfkit.model import StepSummary
from tfperfkit.records.parts import words_of
from tfperfkit.report import numbers
from tfperfkit.report.layout import joined
from tfperfkit.report.paths import name
from tfperfkit.report.terminal import UNICODE, Screen

_BAR_WIDTH = 50
_BAR = "cyan"


def breakdown(steps: StepSummary, of: str, words: Mapping[str, str], screen: Screen) -> list[Text]:
    """A bar of the parts of a step, the largest first, and what they are. ``of``: what they are parts of, in words."""
    known = [(part, ms) for part, ms in (steps.breakdown_ms or {}).items() if math.isfinite(ms) and ms > 0]
    parts = sorted(known, key=lambda item: -item[1])
    total = sum(ms for _, ms in parts)
    if not total or not math.isfinite(total):
        return []
    signs = screen.symbols.bar
    lengths = _lengths([ms / total for _, ms in parts], min(screen.width, _BAR_WIDTH))
    # Each sign stands for one part; one that is too small for a cell of the bar has none.
    own = [signs[index] if length else "" for index, length in enumerate(lengths)]
    bar = "".join(sign * length for sign, length in zip(own, lengths, strict=True))
    items = []
    for sign, (part, ms) in zip(own, parts, strict=True):
        share = numbers.alone(ms / total, "share")
        text = f"{_part(part, screen)} {numbers.beside(ms, total, screen.symbols)} ({share})"
        items.append(f"{sign} {text}" if sign else text)
    if steps.breakdown_window:
        told = " and ".join(words.get(part, f"the {part} window") for part in steps.breakdown_window.split(" and "))
        mean = numbers.alone(total, "ms", screen.symbols)
        items.append(f"breakdown of {of}, {mean}, by {name(told, screen)}")
    lines = joined(items, screen)
    if screen.unicode:  # ASCII's signs may be part of the words
        for line in lines:
            line.highlight_words(signs, _BAR)
    return [Text().append(bar, _BAR), *lines]


def _lengths(shares: Sequence[float], size: int) -> list[int]:
    """``size`` cells divided in proportion, by the largest remainders; at most as many parts as there are signs."""
    exact = [share * size for share in shares[: len(UNICODE.bar)]]
    lengths = [int(cells) for cells in exact]
    by_rest = sorted(range(len(exact)), key=lambda index: lengths[index] - exact[index])
    for index in by_rest[: size - sum(lengths)]:
        lengths[index] += 1
    return lengths + [0] * (len(shares) - len(lengths))


def _part(part: str, screen: Screen) -> str:
    words = words_of(part)
    return name(words.label if words is not None else part, screen)
