"""The lines on the steady phase beyond the ordinary step: outliers, what ran between steps, the warm-up."""

from __future__ import annotations

import math
from collections import defaultdict

from rich.text import Text

from tfperfkit.model import StepAccount, StepSummary, WarmUp
from tfperfkit.records.parts import StartPart, words_of
from tfperfkit.report import numbers
from tfperfkit.report.layout import prose
from tfperfkit.report.paths import name
from tfperfkit.report.terminal import Screen

#: Under this share of the steady phase nothing is said of outliers and of what runs between steps.
_FLOOR = 0.01
#: Parts of the start, where the JSON's name for one says too little.
_STARTED: dict[StartPart, str] = {
    "the steps themselves": "warm-up steps",
    "compile and first runs": "compiling and first runs",
    "first steps": "slow first steps",
    "not sampled": "not known",
}
_PARTS = 4


def account_lines(steps: StepSummary, screen: Screen) -> list[Text]:
    """One dim line each, only for what took a share worth a line."""
    lines: list[Text] = []
    if steps.account is not None:
        lines += _outliers(steps.account, screen) + _between_lines(steps.account, screen) + _idle(steps.account, screen)
    if steps.warm_up is not None:
        lines += _warm_up(steps.warm_up, screen)
    return lines


def _outliers(account: StepAccount, screen: Screen) -> list[Text]:
    """Return ``3 outlier steps, 8.2 % of the time: tracing 310 ms (12, 40) · unexplained 20 ms (55)``."""
    whole = account.mean_ms * account.steps
    beyond = sum(outlier.excess_ms for outlier in account.outliers)
    if not whole or beyond < _FLOOR * whole:
        return []
    by_cause: dict[str, list[int]] = defaultdict(list)
    taken: dict[str, float] = defaultdict(float)
    for outlier in account.outliers:
        by_cause[outlier.cause or "unexplained"].append(outlier.step)
        taken[outlier.cause or "unexplained"] += outlier.excess_ms
    items = []
    for cause in sorted(taken, key=lambda key: -taken[key]):
        which = by_cause[cause]
        numbered = ", ".join(f"{step:,}" for step in which[:3]) + (" …" if len(which) > 3 and screen.unicode else "")
        plural = "s" if len(which) > 1 else ""
        time = numbers.alone(taken[cause], "ms", screen.symbols)
        items.append(f"{name(cause, screen)} {time} (step{plural} {numbered})")
    count = len(account.outliers)
    share = numbers.alone(beyond / whole, "share")
    head = f"{count:,} outlier step{'s' * (count != 1)}, {share} of the time: "
    return prose(head + screen.symbols.dot.join(items), screen, style="dim")


def _between_lines(account: StepAccount, screen: Screen) -> list[Text]:
    """Return the lines on what ran between steps."""
    if account.between_total_ms < _FLOOR * account.mean_ms:
        return []
    kinds = sorted(account.between_ms.items(), key=lambda item: -item[1])[:_PARTS]
    inside = ", ".join(f"{between_label(kind)} {numbers.alone(value, 'ms', screen.symbols)}" for kind, value in kinds)
    text = f"between steps {numbers.alone(account.between_total_ms, 'ms', screen.symbols)} for each step"
    return prose(f"{text}: {name(inside, screen)}" if inside else text, screen, style="dim")


def between_label(kind: str) -> str:
    """Return how a kind of time between steps, or of a work, is called in a list."""
    words = words_of(kind)
    return words.between if words is not None else kind


def _idle(account: StepAccount, screen: Screen) -> list[Text]:
    """``/device:GPU:0 idle 12.0 ms of a step (34 %)``, in the traced steps."""
    items = [
        f"{name(device, screen)} idle {numbers.alone(idle, 'ms', screen.symbols)} of a step "
        f"({numbers.alone(idle / account.mean_ms, 'share')})"
        for device, idle in account.idle_ms.items()
        if account.mean_ms
    ]
    return prose(screen.symbols.dot.join(items), screen, style="dim") if items else []


def _warm_up(warm_up: WarmUp, screen: Screen) -> list[Text]:
    if not math.isfinite(warm_up.total_s) or warm_up.total_s <= 0:
        return []
    parts = sorted(warm_up.parts_s.items(), key=lambda item: -item[1])
    shown = [item for item in parts if item[1] >= 0.02 * warm_up.total_s][: _PARTS + 1]
    inside = ", ".join(f"{_STARTED.get(part, part)} {numbers.alone(value, 's')}" for part, value in shown)
    text = f"startup {numbers.alone(warm_up.total_s, 's')}: {name(inside, screen)}"
    return prose(text, screen, style="dim")
