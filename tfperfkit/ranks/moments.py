"""A rank's run in watch mode over time: what a step takes, and what of it until the rank comes to the exchange."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from tfperfkit.model import History, Period

#: Maximum number of moments that are kept for a rank.
_MAX = 60


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the run, from the step after number ``after`` to number ``step``; ``until_s``: its end, since the
    run began. Times are ms of a step and what passes until the next begins, by stack samples: ``turn_ms`` all of it,
    ``outside_ms`` out of compiled functions, ``compute_ms`` in these, computing (None: not known)."""

    after: int
    step: int
    until_s: float
    turn_ms: float
    outside_ms: float
    compute_ms: float | None = None


def moments(history: History | None) -> tuple[Moment, ...]:
    """Return the periods with steps and samples; empty without watch mode."""
    found = []
    for period in history.periods if history is not None else ():
        if period.steps > 0 and period.doing and not period.windows:
            found.append(_moment(period))
    size = -(-len(found) // _MAX) or 1
    return tuple(_joined(found[at : at + size]) for at in range(0, len(found), size))


def mean(parts: Sequence[Moment], of: Callable[[Moment], float | None], weights: Sequence[float]) -> float | None:
    """By weights; None where any is unknown."""
    values = [of(part) for part in parts]
    whole = sum(weights)
    if not whole or any(value is None for value in values):
        return None
    return sum((value or 0.0) * weight for value, weight in zip(values, weights, strict=True)) / whole


def _moment(period: Period) -> Moment:
    turn = (period.end_s - period.begin_s) * 1000 / period.steps
    inside = turn * period.doing.get("graph", 0.0)
    share = period.compute_share
    return Moment(
        after=period.step - period.steps,
        step=period.step,
        until_s=period.end_s,
        turn_ms=turn,
        outside_ms=turn - inside,
        # With no sample in compiled functions there is nothing to divide.
        compute_ms=inside * share if share is not None else None if inside else 0.0,
    )


def _joined(parts: Sequence[Moment]) -> Moment:
    weights = [float(part.step - part.after) for part in parts]
    return Moment(
        after=parts[0].after,
        step=parts[-1].step,
        until_s=parts[-1].until_s,
        turn_ms=mean(parts, lambda part: part.turn_ms, weights) or 0.0,
        outside_ms=mean(parts, lambda part: part.outside_ms, weights) or 0.0,
        compute_ms=mean(parts, lambda part: part.compute_ms, weights),
    )
