"""Predictions and what was measured, as the documents hold them: the tables are the store, nothing is copied.

Predictions at first sight are the right first findings of the blind batches (``results/blind-trials.md``); those of
scripts that rules were written with are in ``results/gains.md``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parent / "results"
_NUMBER = r"(\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"(?:{_NUMBER} \()?{_NUMBER} to {_NUMBER}")
_BOUND = re.compile(rf"(at least|at most) {_NUMBER}")
_SINGLE = re.compile(_NUMBER)


class Pair(NamedTuple):
    """One prediction. Factors of speed; ``centre`` is the geometric mean of a range; ``lower`` and ``upper`` are what
    "at least" and "at most" say; ``held``: whether the range, or the bound, holds what was measured, None without
    either."""

    script: str
    batch: str
    code: str
    measured: float
    centre: float | None = None
    bounds: tuple[float, float] | None = None
    lower: float | None = None
    upper: float | None = None
    held: bool | None = None

    @property
    def ratio(self) -> float | None:
        """Predicted over measured; None without a figure."""
        return self.centre / self.measured if self.centre else None

    @property
    def width(self) -> float | None:
        """The upper end of the range over the lower one."""
        return self.bounds[1] / self.bounds[0] if self.bounds else None


def paired(script: str, batch: str, code: str, told: str, measured: float) -> Pair:
    """Return a pair from the words of a table: ``1.9 to 2.9``, ``2.3 (1.9 to 2.9)``, ``at least 2.6``, ``1.5`` or a
    dash, with words behind."""
    plain = Pair(script, batch, code, measured)
    if match := _RANGE.match(told):
        low, high = float(match[2]), float(match[3])
        centre, held = float(match[1] or math.sqrt(low * high)), low <= measured <= high
        return plain._replace(centre=centre, bounds=(low, high), held=held)
    if match := _BOUND.match(told):
        value = float(match[2])
        if match[1] == "at least":
            return plain._replace(lower=value, held=measured >= value)
        return plain._replace(upper=value, held=measured <= value)
    if match := _SINGLE.match(told):
        return plain._replace(centre=float(match[1]))
    return plain


def first_sight(text: str | None = None) -> list[Pair]:
    """The right first findings of all blind batches, a prediction or none, in the order of the tables.

    If a table has the finding's saving in the whole script, which was measured, that is the prediction.
    """
    found, batch = [], ""
    for line in (text or (RESULTS / "blind-trials.md").read_text(encoding="utf-8")).splitlines():
        if line.startswith("## "):
            batch = line[3:].split()[0].lower()
        cells = _cells(line)
        if len(cells) in (8, 9) and cells[4] == "right" and (match := _SINGLE.match(cells[-1])):
            found.append(paired(cells[0], batch, cells[3], cells[-2], float(match[1])))
    return found


def at_hand(text: str | None = None) -> list[Pair]:
    """Those of the fault collection, and of blind scripts run again: rules were written or fixed with them at hand.

    Predictions of steps are compared with steps; those of the script have no range of their own in the table.
    """
    found = []
    for line in (text or (RESULTS / "gains.md").read_text(encoding="utf-8")).splitlines():
        cells = _cells(line)
        if len(cells) != 8 or cells[1] not in ("collection", "first", "second", "third"):
            continue
        name, batch, code, told, script, whole, steps, held = cells
        if held == "–" or not (match := _SINGLE.match(steps) or _SINGLE.match(whole)):
            continue
        measured = float(match[1])
        pair = paired(name, batch, code, told, measured)
        figure = _SINGLE.match(script)
        if steps == "–" and figure:  # the range is of the work, what was measured of the whole script
            pair = pair._replace(centre=float(figure[1]) if pair.centre else None)
        found.append(pair._replace(held=held == "yes" if pair.held is not None else None))
    return found


def _cells(line: str) -> list[str]:
    return list(_inside(line)) if line.startswith("| ") else []


def _inside(line: str) -> Iterator[str]:
    for cell in line.strip().strip("|").split("|"):
        yield cell.strip()
