"""Predicted against measured gains, as a page and as a picture."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from benchmarks.scatter import Point, scatter

INTRODUCTION = """\
Written by `python -m benchmarks.gains` from scripts with a planted fault and their fixed twins (`tests/faults`).
**Most are no figures of first sight**: rules were written and changed with these scripts at hand. They say which
predictions lean to one side, not how the next script will do. For a first look see [blind trials](blind-trials.md),
[eager loops](#eager-loops-at-first-sight) and [fresh scripts](#fresh-scripts-that-no-rule-was-mended-with); for scores
by rule [forecasts](forecasts.md).

A prediction is set against what it is about. One for *steps* (or iterations of the training loop) against the mean
clean step of script and twin, both under tfperf, the twin with few records. One for *work* outside of steps, or for the
run, against the time of the whole script after its imports over the twin's, under plain Python and in turn; it is
converted to the whole script, with all else unchanged. So is one for steps if script and twin have different numbers of
steps. Times of the script are the quicker of two. The right finding is the first
that names what was planted; of blind scripts, whose authors know no codes, the first at the planted place.

**Which scripts**: {run} of {total} with a fault were run, those below: eager ones first, then what time allowed. A row
of one or two scripts says little of its rule. A twin may change more than the finding's advice (whole batches
instead of a compiled call): then the prediction is low.

The machine had two cores and a load of 2 to 7 from other work: measured gains are good to some 30 %."""
MEANING = """\
Bias: the median of predicted over measured (under 1: too low). Held: ranges that hold the measured gain, and "at least"
that it reaches. Within 1.3 times: of the predictions that have a figure. Width: the median of upper over lower end, as
printed."""
NEAR = 1.3


class Judged(NamedTuple):
    """A prediction and its outcome."""

    measured: float
    predicted: float | None
    bounds: tuple[float, ...] | None
    at_least: float | None

    @property
    def held(self) -> bool:
        if self.bounds is not None and self.predicted is not None:
            return self.bounds[0] <= self.measured <= self.bounds[-1]
        return self.at_least is not None and self.measured >= self.at_least

    @property
    def ratio(self) -> float | None:
        return self.predicted / self.measured if self.predicted else None


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One fault. ``of_script``: the prediction for the script after its imports, as ``measured`` is;
    ``of_steps``: what the mean step gained, for a prediction of steps."""

    name: str
    batch: str
    measured: float
    spread: tuple[float, float]
    code: str = ""
    predicted: float | None = None
    bounds: tuple[float, float] | None = None
    at_least: float | None = None
    of_script_at_least: float | None = None
    of_steps: float | None = None

    @property
    def judged(self) -> Judged | None:
        """Return the two compared figures."""
        if self.of_steps:
            return Judged(self.of_steps, self.predicted, self.bounds, self.at_least)
        if not (self.of_script or self.of_script_at_least):
            return None
        return Judged(self.measured, self.of_script, self.of_script_bounds, self.of_script_at_least)

    of_script: float | None = None
    of_script_bounds: tuple[float, float] | None = None


def page(scores: Sequence[Score], total: int) -> str:
    """The document; ``total``: faults that there are, run or not."""
    known = sorted(scores, key=lambda item: (item.code or "~", item.name))
    priced = [item for item in known if item.judged]
    told = INTRODUCTION.format(run=len(scores), total=total)
    lines = ["# Do predicted gains come true?", "", told, "", "![Predicted against measured](gains.svg)", ""]
    lines += ["## By rule", "", MEANING, ""]
    lines += ["| rule | scripts | held | within 1.3 times | too low | too high | bias | width as printed |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for code in dict.fromkeys(item.code for item in priced):
        lines.append(_summary(code, [item for item in priced if item.code == code]))
    for batch in dict.fromkeys(item.batch for item in sorted(scores, key=lambda item: item.batch)):
        lines.append(_summary(f"batch {batch}", [item for item in priced if item.batch == batch]))
    lines.append(_summary("all", priced))
    lines += ["", "## By script", ""]
    lines += ["| script | batch | finding | predicted | of the script | measured of the script | of steps | held |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    lines += [_row(item) for item in known]
    return "\n".join(lines) + "\n"


def _summary(code: str, scores: Sequence[Score]) -> str:
    found = [item.judged for item in scores if item.judged]
    if not found:
        return f"| {code} | 0 | – | – | – | – | – | – |"
    ratios = [item.ratio for item in found if item.ratio]
    near = sum(1 / NEAR <= ratio <= NEAR for ratio in ratios)
    low, high = sum(ratio < 1 / NEAR for ratio in ratios), sum(ratio > NEAR for ratio in ratios)
    widths = [item.bounds[1] / item.bounds[0] for item in scores if item.bounds]
    cells = (
        code,
        str(len(found)),
        f"{sum(item.held for item in found)}",
        f"{near} of {len(ratios)}",
        str(low),
        str(high),
        f"{statistics.median(ratios):.2f}" if ratios else "–",
        f"{statistics.median(widths):.1f}" if widths else "–",
    )
    return f"| {' | '.join(cells)} |"


def _row(item: Score) -> str:
    told = "–"
    if item.at_least:
        told = f"at least {item.at_least:.1f}"
    elif item.predicted:
        told = f"{item.predicted:.1f}" + (f" ({item.bounds[0]:.1f} to {item.bounds[1]:.1f})" if item.bounds else "")
    low, high = item.spread
    spread = f" ({low:.1f} to {high:.1f})" if high > low else ""
    whole = item.of_script or item.of_script_at_least
    held = "–" if item.judged is None else "yes" if item.judged.held else "no"
    cells = (item.name, item.batch, item.code or "none", told, f"{whole:.1f}" if whole else "–")
    measured = (f"{item.measured:.1f}{spread}", f"{item.of_steps:.1f}" if item.of_steps else "–", held)
    return f"| {' | '.join((*cells, *measured))} |"


def picture(scores: Sequence[Score]) -> str:
    """Return the predictions with a figure, as SVG; a colour for each family."""
    points = []
    for item in scores:
        judged = item.judged
        if judged is None or judged.predicted is None:
            continue
        bounds = (judged.bounds[0], judged.bounds[-1]) if judged.bounds else None
        label = f"{item.name}: {item.code}, predicted {judged.predicted:.1f}, measured {judged.measured:.1f}"
        points.append(Point(item.code[:3], label, judged.measured, judged.predicted, bounds))
    return scatter(points, "Predicted against measured gains")
