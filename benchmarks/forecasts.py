"""How far predictions come true: ``python -m benchmarks.forecasts [--out FILE] [--picture FILE]``.

Reads the predictions and the measured gains that the documents hold (``benchmarks.stored_pairs``), scores them as
forecasts are, by rule, and writes ``results/forecasts.md`` with its picture. It runs nothing; new measurements come
into the tables of the documents first.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.scatter import Point, scatter
from benchmarks.stored_pairs import RESULTS, Pair, at_hand, first_sight

NEAR = 1.5
#: The rest of the page from here on is written by hand, and kept.
BY_HAND = "\n## What became of it"
INTRODUCTION = """\
Written by `python -m benchmarks.forecasts` from the tables of [blind trials](blind-trials.md) and [gains](gains.md):
each right finding's prediction next to the gain of the fixed twin. A circle is the central estimate (the geometric mean
of a range), its line the range.

**Of first sight** are the blind scripts only: their authors knew no rule, each was looked at once, and nothing below
was changed since. Predictions are of the step or of the work that a finding is about, as the report printed them, and
from the twelfth batch on of the whole script, by the seconds that the report says it saves; what was measured is the
whole script after the import of TensorFlow, on a machine that other work kept busy (good to some 40 %). A gain of a
step is more than the whole script's, so an honest prediction of one would lie above the line, if anywhere;
versions differ from batch to batch. **At hand** are scripts that rules were written or changed with."""
MEANING = f"""\
Bias: the median of predicted over measured; under 1 is too low. Held: ranges that hold what was measured. Within
{NEAR} times: of the central estimates. Width: the median of upper over lower end. Bounds kept: "at least" that was
reached, "at most" that was not passed. An interval of 80 % holds four of five."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forecasts", description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS / "forecasts.md", help="the page (default: %(default)s)")
    parser.add_argument("--picture", type=Path, default=RESULTS / "forecasts.svg", help="(%(default)s)")
    options = parser.parse_args()
    first, known = first_sight(), at_hand()
    before = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
    _, heading, by_hand = before.partition(BY_HAND)
    options.out.write_text(page(first, known) + heading + by_hand, encoding="utf-8")
    options.picture.write_text(picture(first, known), encoding="utf-8")


def page(first: Sequence[Pair], known: Sequence[Pair]) -> str:
    """The document, up to what is written by hand."""
    lines = ["# How far predictions come true", "", INTRODUCTION, ""]
    lines += ["![Predicted against measured](forecasts.svg)", "", MEANING, ""]
    lines += ["## At first sight, by rule", "", *_table(first, [(code, "code") for code in _codes(first)]), ""]
    batches = list(dict.fromkeys(pair.batch for pair in first))
    lines += ["## At first sight, by batch", "", *_table(first, [(batch, "batch") for batch in batches]), ""]
    lines += ["## At hand, by rule", "", *_table(known, [(code, "code") for code in _codes(known)]), ""]
    lines += ["## The misses of first sight", "", "The farthest off first; as factors of speed.", ""]
    return "\n".join([*lines, *_misses(first)]) + "\n"


def _codes(pairs: Sequence[Pair]) -> list[str]:
    return sorted({pair.code for pair in pairs})


def _table(pairs: Sequence[Pair], rows: Sequence[tuple[str, str]]) -> list[str]:
    lines = [f"| | n | bias | held | within {NEAR} times | width | bounds kept |", "|---|---|---|---|---|---|---|"]
    lines += [summary(value, [pair for pair in pairs if getattr(pair, field) == value]) for value, field in rows]
    return [*lines, summary("**all**", pairs)]


def summary(name: str, pairs: Sequence[Pair]) -> str:
    """Return a row: bias, coverage and width of these."""
    ratios = [pair.ratio for pair in pairs if pair.ratio]
    widths = [pair.width for pair in pairs if pair.width]
    ranged = [pair for pair in pairs if pair.bounds]
    bounded = [pair for pair in pairs if not pair.bounds and pair.held is not None]
    near = sum(1 / NEAR <= ratio <= NEAR for ratio in ratios)
    cells = (
        name,
        str(len(pairs)),
        f"{statistics.median(ratios):.2f}" if ratios else "–",
        f"{sum(bool(pair.held) for pair in ranged)} of {len(ranged)}" if ranged else "–",
        f"{near} of {len(ratios)}" if ratios else "–",
        f"{statistics.median(widths):.1f}" if widths else "–",
        f"{sum(bool(pair.held) for pair in bounded)} of {len(bounded)}" if bounded else "–",
    )
    return f"| {' | '.join(cells)} |"


def _misses(pairs: Sequence[Pair]) -> list[str]:
    missed = sorted((pair for pair in pairs if pair.held is False), key=_off, reverse=True)
    lines = ["| script | batch | rule | predicted | measured | predicted over measured |", "|---|---|---|---|---|---|"]
    for pair in missed:
        told = f"{pair.bounds[0]:g} to {pair.bounds[1]:g}" if pair.bounds else f"at least {pair.lower:g}"
        told = f"at most {pair.upper:g}" if pair.upper else told
        ratio = f"{pair.ratio:.2f}" if pair.ratio else "–"
        lines.append(f"| {pair.script} | {pair.batch} | {pair.code} | {told} | {pair.measured:g} | {ratio} |")
    return lines


def _off(pair: Pair) -> float:
    ratio = pair.ratio or 1.0
    return max(ratio, 1 / ratio)


def picture(first: Sequence[Pair], known: Sequence[Pair]) -> str:
    """All that has a central estimate; of what was at hand the circles are hollow."""
    points = [
        Point(
            pair.code[:3],
            f"{pair.script}: {pair.code}, predicted {pair.centre:.1f}, measured {pair.measured:g}",
            pair.measured,
            pair.centre,
            pair.bounds if not hollow else None,
            hollow,
        )
        for pairs, hollow in ((known, True), (first, False))
        for pair in pairs
        if pair.centre
    ]
    return scatter(points, "Predicted against measured gains, at first sight and at hand", "at hand")


if __name__ == "__main__":
    main()
