"""The bar of the parts that a step, a work outside of steps, or the run is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from tfperfkit.model import StepSummary
from tfperfkit.records.parts import words_of
from tfperfkit.report import numbers
from tfperfkit.report.layout import joined
from tfperfkit.report.paths import name
from tfperfkit.report.terminal import UNICODE, Screen

_BAR_WIDTH = 50
_BAR = "cyan"
#: Of a step, from which on an estimate of a part is called one.
_ESTIMATED = 0.02


def breakdown(
    steps: StepSummary, of: str, words: Mapping[str, str], screen: Screen, other: str = "other"
) -> list[Text]:
    """A bar of the parts of a step, the largest first, and what they are. ``of``: what they are parts of, in words;
    ``other``: how to call the rest."""
    known = [(part, ms) for part, ms in (steps.breakdown_ms or {}).items() if math.isfinite(ms) and ms > 0]
    parts = sorted(known, key=lambda item: -item[1])
    total = sum(ms for _, ms in parts)
    if not total or not math.isfinite(total):
        return []

    def legend(index: int) -> str:
        part, ms = parts[index]
        share = numbers.alone(ms / total, "share")
        called = name(other, screen) if part == "other" else _name_part(part, screen)
        return f"{called} {numbers.beside(ms, total, screen.symbols)} ({share})"

    tail = ""
    if steps.breakdown_window:
        source = " and ".join(words.get(part, f"the {part} window") for part in steps.breakdown_window.split(" and "))
        mean = numbers.alone(total, "ms", screen.symbols)
        tail = f"breakdown of {of}, {mean}, by {name(source, screen)}"
        account = steps.account
        if account is not None and account.input_in_graph_ms > _ESTIMATED * total:
            tail += "; what of the input passes in compiled functions is estimated"
    return bar_lines([ms / total for _, ms in parts], legend, screen, tail=tail)


def bar_lines(
    shares: Sequence[float],
    legend: Callable[[int], str],
    screen: Screen,
    *,
    style: str = _BAR,
    head: str = "",
    tail: str = "",
) -> list[Text]:
    """A bar of ``shares``, the largest first, and ``legend`` of each by its number, with the sign of its part.

    ``head`` stands before the legend, ``tail`` is its last item.
    """
    signs = screen.symbols.bar
    lengths = _lengths(shares, min(screen.width, _BAR_WIDTH))
    # Each sign stands for one part; one that is too small for a cell of the bar has none.
    own = [signs[index] if length else "" for index, length in enumerate(lengths)]
    bar = "".join(sign * length for sign, length in zip(own, lengths, strict=True))
    items = [f"{sign} {legend(index)}" if sign else legend(index) for index, sign in enumerate(own)]
    items[0] = head + items[0]
    lines = joined([*items, tail] if tail else items, screen)
    if screen.unicode:  # ASCII's signs may be part of the words
        for line in lines:
            line.highlight_words(signs, style)
    return [Text().append(bar, style), *lines]


def _lengths(shares: Sequence[float], size: int) -> list[int]:
    """``size`` cells divided in proportion, by the largest remainders; at most as many parts as there are signs."""
    exact = [share * size for share in shares[: len(UNICODE.bar)]]
    lengths = [int(cells) for cells in exact]
    by_rest = sorted(range(len(exact)), key=lambda index: lengths[index] - exact[index])
    for index in by_rest[: size - sum(lengths)]:
        lengths[index] += 1
    return lengths + [0] * (len(shares) - len(lengths))


def _name_part(part: str, screen: Screen) -> str:
    """Return the label of a part."""
    words = words_of(part)
    return name(words.label if words is not None else part, screen)
