"""Account of the time: one bar for a step, an iteration or a call, and one line for the run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from rich.text import Text

from tfperfkit.clock import MS_PER_S
from tfperfkit.model import Finding, Report, StepSummary, Work
from tfperfkit.records.parts import name_run_part, words_of
from tfperfkit.report import numbers
from tfperfkit.report.bar import bar_text, sign_of
from tfperfkit.report.layout import joined, labelled
from tfperfkit.report.paths import name
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import cells
from tfperfkit.report.verdict.layout import MARGIN, row

#: Parts below this share are summed as "other".
_MIN_SHARE = 0.02
_MIN_OTHER = 0.005
#: From this share of a work on, the account is of all of the work.
_ALL = 0.95
_BAR = 48
_RUN_LINES = 2


class Whole(NamedTuple):
    """Subject of a bar: its label, the time below it, and its parts in ms."""

    label: str
    time: str
    parts: Mapping[str, float]


def time_lines(report: Report, first: Finding | None, screen: Screen) -> list[Text]:
    """Return the bar of what the first finding is about, else of the step, else of the longest work; then the run's
    line."""
    whole = choose_whole(report, first, screen)
    return ([] if whole is None else _bar(whole, screen)) + _run(report, screen)


def choose_whole(report: Report, first: Finding | None, screen: Screen) -> Whole | None:
    """Return what the bar shows; None if there is no account of anything."""
    known = {work.name: work for work in report.work if _parts(work.steps)}
    if first is not None and first.work in known:
        return _work(known[first.work], screen)
    if report.steps.count > 0 and _parts(report.steps):
        total = sum(_parts(report.steps).values())
        return Whole("MEAN STEP", numbers.short(total, "ms", screen.symbols), _parts(report.steps))
    return next((_work(work, screen) for work in known.values()), None)


def _work(work: Work, screen: Screen) -> Whole:
    """Return the whole of a work outside of training steps."""
    parts = _parts(work.steps)
    total_ms = sum(parts.values())
    time = numbers.short(total_ms, "ms", screen.symbols)
    if work.iterations:
        return Whole("ITERATION", f"mean {time}", parts)
    if total_ms >= _ALL * MS_PER_S * work.seconds:
        return Whole(work.kind.upper(), time, parts)
    whole = numbers.short(float(work.seconds), "s", screen.symbols)
    return Whole(f"{work.kind.upper()} {whole}", f"{time} clean", parts)


def _parts(steps: StepSummary) -> dict[str, float]:
    """Return the parts that take time, the largest first; empty if their sum is beyond measure."""
    known = {part: ms for part, ms in (steps.breakdown_ms or {}).items() if math.isfinite(ms) and ms > 0}
    return dict(sorted(known.items(), key=lambda item: -item[1])) if 0 < sum(known.values()) < math.inf else {}


def _bar(whole: Whole, screen: Screen) -> list[Text]:
    """Return a bar with its label, and a legend on one line: each part with its own sign, small ones as "other"."""
    shares = list_shares(whole)
    while len(shares) > 1 and cells(_legend(shares, screen)) > screen.width - MARGIN:
        shares.popitem()
    width = max(min(screen.width - MARGIN, _BAR), 10)
    bar = row(whole.label, bar_text(shares, width, screen), screen, style="cyan")
    return [bar, row(whole.time, _legend(shares, screen), screen)]


def list_shares(whole: Whole) -> dict[str, float]:
    """Return the parts that the bar shows with their shares (0 to 1), the largest first; the rest is "other"."""
    total = sum(whole.parts.values())
    return {part: ms / total for part, ms in whole.parts.items() if part != "other" and ms >= _MIN_SHARE * total}


def _legend(shares: Mapping[str, float], screen: Screen) -> str:
    """Return ``█ Python 81 %  ▒ eager ops 10 %  other 9 %``."""
    items = [f"{sign_of(part, screen)} {_label(part, screen)} {_percent(share)}" for part, share in shares.items()]
    rest = 1 - sum(shares.values())
    return "  ".join([*items, f"{sign_of('other', screen)} other {_percent(rest)}"] if rest >= _MIN_OTHER else items)


def _percent(share: float) -> str:
    """Return a share in whole per cent."""
    return f"{100 * share:.0f} %"


def _run(report: Report, screen: Screen) -> list[Text]:
    """``RUN 88 s    training 75 % · imports 15 % · other 10 %``, on two lines if one can't hold the large parts."""
    account = report.run_account
    values = account.parts_s.values() if account is not None else ()
    if account is None or not all(math.isfinite(value) and value >= 0 for value in values) or not sum(values) > 0:
        return []
    total = sum(values)
    largest = sorted(account.parts_s.items(), key=lambda item: -item[1])
    items: list[str] = []
    label = f"RUN {numbers.short(account.total_s, 's', screen.symbols)}"
    dot = screen.symbols.dot
    left = 1.0
    for part, seconds in largest:
        share = seconds / total
        item = f"{name(name_run_part(part, account.parts_s), screen)} {_percent(share)}"
        if share < _MIN_SHARE or cells(dot.join([*items, item, "other 99 %"])) > _RUN_LINES * (screen.width - MARGIN):
            break
        items.append(item)
        left -= share
    if left >= _MIN_OTHER and items:
        items.append(f"other {_percent(left)}")
    lines = joined(items, screen, indent=MARGIN)[:_RUN_LINES]
    return [labelled(label, lines[0], MARGIN), *lines[1:]] if lines else []


def _label(part: str, screen: Screen) -> str:
    """Return the label of a part."""
    words = words_of(part)
    return name(words.label if words is not None else part, screen)
