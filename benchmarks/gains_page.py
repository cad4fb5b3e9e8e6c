"""Predicted against measured gains, as a page and as a picture."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from html import escape

import msgspec

INTRODUCTION = """\
Written by `python -m benchmarks.gains` from scripts with a planted fault and their mended twins (`tests/faults`).
**These are no figures of first sight**: the rules were written and mended with these scripts at hand. They say which
predictions lean to one side, not how the next script will do. For a first look see [blind trials](blind-trials.md) and
[eager loops](#eager-loops-at-first-sight).

Measured is the time of the whole script after its imports over that of its twin, under plain Python and in turn (of
blind scripts as their author measured it). A prediction is for the steps or the work that its finding is about, so it
is given twice: as printed, and *of the script*, with the rest of the script left as it is. Only the latter can be set
against the measured one, and only where the rest is alike in script and twin. The right finding is the first that names
what was planted; of blind scripts, whose authors know no codes, the first at the planted place.

**Which scripts**: {run} of {total} with a fault were run, those below. They were not drawn at random: blind scripts
whose predictions had been furthest off came first, then retraces, then what time allowed. So the bias over all is that
of a selection, and a row of one or two scripts says little of its rule.

The machine had two cores and a load of 5 to 11 from other work, in which one script takes two to five times as long as
alone: measured gains are good to some 40 %, and what a script took outside of its steps weighs more than it should."""
MEANING = """\
Bias: the median of predicted over measured (under 1: too low). Coverage: ranges, of the script, that hold the measured
gain. Width: the median of upper over lower end, as printed."""
#: Sides of the picture in its own units, and the factors at its ends.
_SIZE, _MARGIN, _LOW, _HIGH = 560, 60, 1.0, 100.0
_TICKS = (1, 2, 5, 10, 20, 50, 100)
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777")


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One fault. ``of_script``: the prediction for the script after its imports, as ``measured`` is."""

    name: str
    batch: str
    measured: float
    spread: tuple[float, float]
    code: str = ""
    predicted: float | None = None
    bounds: tuple[float, float] | None = None
    at_least: float | None = None
    of_script: float | None = None
    of_script_bounds: tuple[float, float] | None = None


def page(scores: Sequence[Score], total: int) -> str:
    """The document; ``total``: faults that there are, run or not."""
    known = sorted(scores, key=lambda item: (item.code or "~", item.name))
    priced = [item for item in known if item.of_script]
    told = INTRODUCTION.format(run=len(scores), total=total)
    lines = ["# Do predicted gains come true?", "", told, "", "![Predicted against measured](pictures/gains.svg)", ""]
    lines += ["## By rule", "", MEANING, ""]
    lines += ["| rule | scripts | bias as printed | bias of the script | coverage | width as printed |"]
    lines += ["|---|---|---|---|---|---|"]
    for code in dict.fromkeys(item.code for item in priced):
        lines.append(_summary(code, [item for item in priced if item.code == code]))
    lines.append(_summary("all", priced))
    lines += ["", "## By script", ""]
    lines += ["| script | batch | finding | predicted | of the script | measured |", "|---|---|---|---|---|---|"]
    lines += [_row(item) for item in known]
    return "\n".join(lines) + "\n"


def _summary(code: str, scores: Sequence[Score]) -> str:
    if not scores:
        return f"| {code} | 0 | – | – | – | – |"
    printed = statistics.median((item.predicted or math.nan) / item.measured for item in scores)
    whole = statistics.median((item.of_script or math.nan) / item.measured for item in scores)
    ranged = [item for item in scores if item.bounds and item.of_script_bounds]
    held = sum(low <= item.measured <= high for item in ranged for low, high in [item.of_script_bounds or (0, 0)])
    widths = [high / low for item in ranged for low, high in [item.bounds or (1, 1)]]
    width = f"{statistics.median(widths):.1f}" if widths else "–"
    cells = (code, str(len(scores)), f"{printed:.2f}", f"{whole:.2f}", f"{held} of {len(ranged)}", width)
    return f"| {' | '.join(cells)} |"


def _row(item: Score) -> str:
    told = "–"
    if item.at_least:
        told = f"at least {item.at_least:.1f}"
    elif item.predicted:
        told = f"{item.predicted:.1f}" + (f" ({item.bounds[0]:.1f} to {item.bounds[1]:.1f})" if item.bounds else "")
    low, high = item.spread
    spread = f" ({low:.1f} to {high:.1f})" if high > low else ""
    whole = f"{item.of_script:.1f}" if item.of_script else "–"
    return f"| {item.name} | {item.batch} | {item.code or 'none'} | {told} | {whole} | {item.measured:.1f}{spread} |"


def picture(scores: Sequence[Score]) -> str:
    """An SVG: measured to the right, the prediction of the script upwards, both by ratio; a colour for each family."""
    families = sorted({item.code[:3] for item in scores if item.of_script})
    colour = {name: _COLOURS[index % len(_COLOURS)] for index, name in enumerate(families)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}"',
        'font-family="sans-serif" font-size="12">',
        "<title>Predicted against measured gains</title>",
        f'<rect width="{_SIZE}" height="{_SIZE}" fill="#ffffff"/>',
    ]
    right, up = _scale(False), _scale(True)
    for tick in _TICKS:
        parts.append(_line(right(tick), up(_LOW), right(tick), up(_HIGH), "#dddddd"))
        parts.append(_line(right(_LOW), up(tick), right(_HIGH), up(tick), "#dddddd"))
        parts.append(f'<text x="{right(tick):.1f}" y="{up(_LOW) + 18:.1f}" text-anchor="middle">{tick}</text>')
        parts.append(f'<text x="{right(_LOW) - 8:.1f}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    parts.append(_line(right(_LOW), up(_LOW), right(_HIGH), up(_HIGH), "#555555"))
    parts.append(f'<text x="{_SIZE / 2}" y="{_SIZE - 12}" text-anchor="middle">measured, of the script</text>')
    middle = f"14 {_SIZE / 2}"
    parts.append(
        f'<text transform="translate({middle}) rotate(-90)" text-anchor="middle">predicted, of the script</text>'
    )
    for item in scores:
        if item.of_script is None:
            continue
        fill = colour[item.code[:3]]
        if item.of_script_bounds:
            low, high = item.of_script_bounds
            parts.append(_line(right(item.measured), up(low), right(item.measured), up(high), fill))
        label = escape(f"{item.name}: {item.code}, predicted {item.of_script:.1f}, measured {item.measured:.1f}")
        at = f'cx="{right(item.measured):.1f}" cy="{up(item.of_script):.1f}"'
        parts.append(f'<circle {at} r="4" fill="{fill}"><title>{label}</title></circle>')
    for index, name in enumerate(families):
        top = _MARGIN + 16 + 18 * index
        parts.append(f'<circle cx="{_MARGIN + 16}" cy="{top}" r="4" fill="{colour[name]}"/>')
        parts.append(f'<text x="{_MARGIN + 26}" y="{top + 4}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _scale(upwards: bool) -> Callable[[float], float]:
    def place(value: float) -> float:
        share = math.log(min(max(value, _LOW), _HIGH) / _LOW) / math.log(_HIGH / _LOW)
        along = _MARGIN + share * (_SIZE - 2 * _MARGIN)
        return _SIZE - along if upwards else along

    return place


def _line(x1: float, y1: float, x2: float, y2: float, stroke: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"/>'
