"""Predictions of findings as forecasts next to measurements, and the table of their scores by kind of remedy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from benchmarks.forecast_scores import Forecast, Scores, score_all
from tfperfkit.model import Finding, StepAccount
from tfperfkit.remedy import Remedy

_MIN_SAVED_S = 0.2
#: A factor that stands for "nothing is left of the step".
_MAX_FACTOR = 100.0


def forecast_seconds(finding: Finding, saved_s: float) -> Forecast | None:
    """Return the predicted seconds of the run next to ``saved_s``; None if one is not known or negligible."""
    costs = finding.costs_s
    if finding.saves_s is None or not costs or saved_s < _MIN_SAVED_S:
        return None
    low, high = finding.saves_s
    return Forecast(low, (low + high) / 2, high, saved_s, costs, costs / 2)


def forecast_factor(finding: Finding, before: StepAccount | None, after: StepAccount | None) -> Forecast | None:
    """Return the predicted factor of the mean clean step next to the measured one; None unless it is of training steps
    and both accounts are known."""
    if finding.work or finding.basis != "step" or before is None or after is None or after.mean_ms <= 0:
        return None
    if finding.gain.low is None:
        return None
    share = finding.share_of_step
    all_of_it, half = (min(1 / max(1 - part, 1 / _MAX_FACTOR), _MAX_FACTOR) for part in (share, share / 2))
    high = finding.gain.high or all_of_it
    centre = finding.gain.likely or (finding.gain.low * high) ** 0.5
    return Forecast(finding.gain.low, centre, max(high, centre), before.mean_ms / after.mean_ms, all_of_it, half)


def name_remedy(remedy: Remedy) -> str:
    """Return the kind of a remedy as pages have it: ``Hoist``."""
    return type(remedy).__name__


def table_of_scores(forecasts: Iterable[tuple[str, Forecast | None]]) -> list[str]:
    """Return the lines of the table: a row for each kind, and one for all; kinds without a forecast are left out."""
    by_kind: defaultdict[str, list[Forecast]] = defaultdict(list)
    for kind, forecast in forecasts:
        if forecast is not None:
            by_kind[kind].append(forecast)
    if not by_kind:
        return ["None of these scripts."]
    rows = [(kind, score_all(found)) for kind, found in sorted(by_kind.items())]
    rows.append(("**all**", score_all([each for found in by_kind.values() for each in found])))
    head = "| remedy | n | bias | held | within 1.25 | within 1.5 | width | score | all goes | half goes |"
    return [head, "|---|---|---|---|---|---|---|---|---|---|", *(_row_of_scores(*row) for row in rows)]


def _row_of_scores(kind: str, scores: Scores) -> str:
    counts = (f"{number} of {scores.count}" for number in (scores.held, scores.nearer, scores.near))
    cells = [kind, str(scores.count), f"{scores.bias:.2f}", *counts, f"{scores.width:.1f}"]
    cells += [f"{value:.2f}" for value in (scores.score, scores.everything, scores.half)]
    return f"| {' | '.join(cells)} |"
