"""The bar of the parts that a step or a work outside of steps is made of. Each part has a sign of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rich.text import Text

from tfperfkit.model import StepSummary
from tfperfkit.records.parts import words_of
from tfperfkit.report import numbers
from tfperfkit.report.layout import joined
from tfperfkit.report.paths import name
from tfperfkit.report.terminal import Screen

_BAR_WIDTH = 50
_BAR = "cyan"
#: Share of a step from which on an estimate of a part is called an estimate.
_ESTIMATED = 0.02
#: The sign of each part, the same in every report; and where only ASCII is safe.
_SIGNS: dict[str, tuple[str, str]] = {
    "python": ("█", "#"),
    "graph": ("▓", "="),
    "eager_ops": ("▒", "+"),
    "input": ("░", "-"),
    "dispatch": ("·", "."),
    "tracing": ("▚", "%"),
    "evaluate": ("▀", "*"),
    "saving": ("▄", "~"),
    "host_sync": ("▌", "?"),
    "copies": ("▐", ">"),
    "collectives": ("◆", "&"),
    "gc": ("▖", "o"),
    "other": ("╌", "_"),
}


def sign_of(part: str, screen: Screen) -> str:
    """Return the sign of a part in bars and their legends."""
    return _SIGNS.get(part, _SIGNS["other"])[0 if screen.unicode else 1]


def bar_text(shares: Mapping[str, float], width: int, screen: Screen) -> str:
    """Return a bar of ``width`` cells: ``shares`` of the whole by part, and the sign of "other" for the rest."""
    lengths = _lengths([*shares.values(), max(1 - sum(shares.values()), 0.0)], width)
    signs = [sign_of(part, screen) for part in (*shares, "other")]
    return "".join(sign * length for sign, length in zip(signs, lengths, strict=True))


def breakdown(
    steps: StepSummary, of: str, words: Mapping[str, str], screen: Screen, other: str = "other"
) -> list[Text]:
    """Return a bar of the parts of a step, the largest first, and what they are. ``of``: what they are parts of, in
    words; ``other``: how to call the rest."""
    known = [(part, ms) for part, ms in (steps.breakdown_ms or {}).items() if math.isfinite(ms) and ms > 0]
    parts = sorted(known, key=lambda item: -item[1])
    total = sum(ms for _, ms in parts)
    if not total or not math.isfinite(total):
        return []
    bar = bar_text({part: ms / total for part, ms in parts if part != "other"}, min(screen.width, _BAR_WIDTH), screen)
    items = []
    for part, ms in parts:
        called = name(other, screen) if part == "other" else _name_part(part, screen)
        sign = f"{sign} " if (sign := sign_of(part, screen)) in bar else ""  # one too small for a cell has none
        items.append(
            f"{sign}{called} {numbers.beside(ms, total, screen.symbols)} ({numbers.alone(ms / total, 'share')})"
        )
    title = [f"{of}, {numbers.alone(total, 'ms', screen.symbols)}"]
    if steps.breakdown_window:
        source = " and ".join(words.get(part, f"the {part} window") for part in steps.breakdown_window.split(" and "))
        title.append(f"measured by {name(source, screen)}")
        account = steps.account
        if account is not None and account.input_in_graph_ms > _ESTIMATED * total:
            title.append("input inside compiled functions is estimated")
    lines = joined(items, screen)
    if screen.unicode:  # ASCII's signs may be part of the words
        for line in lines:
            line.highlight_words(list(bar), _BAR)
    return [*joined(title, screen, style="dim"), Text(bar, _BAR), *lines]


def _lengths(shares: list[float], size: int) -> list[int]:
    """``size`` cells divided in proportion, by the largest remainders."""
    exact = [share * size for share in shares]
    lengths = [int(cells) for cells in exact]
    by_rest = sorted(range(len(exact)), key=lambda index: lengths[index] - exact[index])
    for index in by_rest[: size - sum(lengths)]:
        lengths[index] += 1
    return lengths


def _name_part(part: str, screen: Screen) -> str:
    """Return the label of a part."""
    words = words_of(part)
    return name(words.label if words is not None else part, screen)
