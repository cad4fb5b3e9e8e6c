"""Who comes late to the exchange, how often, and how long the others wait.

In synchronous training all ranks' steps take as long, for each ends when the last rank has come. The time of a rank
until it comes is its own: all time outside of compiled functions, and in these all that is not in exchanges. The rank
with the most is late, and the middle one of the others waits for the difference.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from tfperfkit.offers.late_rank import TENS, Late
from tfperfkit.ranks import numbers
from tfperfkit.ranks.over_time import over_time
from tfperfkit.ranks.part import Part

_TRACED, _STRETCHES = "traced steps", "stretches of the run"


class Traced(msgspec.Struct, frozen=True, kw_only=True):
    """Exchanges that were traced on all ranks, in ``steps`` steps. ``transfer_ms``: of a step, what the last to come
    needs for all of them. ``wait_ms``: of a step, by rank, beyond that. ``last``: in how many steps each rank was the
    last, by the time that all its exchanges of the step took."""

    steps: int
    exchanges: float  # of a step
    transfer_ms: float
    wait_ms: dict[str, float]
    last: dict[str, int]


def own_ms(part: Part, *, computing: bool) -> float | None:
    """ms of a step that a rank needs until it comes to the exchange; None if that is not known."""
    if part.turn_ms is None or part.inside_ms is None or (computing and part.compute_ms is None):
        return None
    compute = part.compute_ms if computing and part.compute_ms is not None else 0.0
    return max(part.turn_ms - part.inside_ms - part.unknown_ms, 0.0) + compute


def computing(parts: Sequence[Part]) -> bool:
    """Return whether the computing of all ranks is known, by one measure."""
    return len({part.compute_by for part in parts}) == 1 and all(part.compute_ms is not None for part in parts)


def waits(parts: Sequence[Part]) -> dict[str, float]:
    """By rank what it waits of a step in the exchange, where computing is known: what it spends there longer than the
    rank that is there for the shortest time. Empty where that is not known."""
    if len(parts) < 2 or not computing(parts) or not _one_step(parts):
        return {}
    there = {p.label: max((p.inside_ms or 0.0) - (p.compute_ms or 0.0), 0.0) for p in parts}
    return {label: took - min(there.values()) for label, took in there.items()}


def _one_step(parts: Sequence[Part]) -> bool:
    turns = [part.turn_ms or 0.0 for part in parts]
    return max(turns) <= numbers.SAME_STEP.value * min(turns)


def traced(parts: Sequence[Part]) -> Traced | None:
    """Return the arrivals from exchanges that all ranks traced: the same operation of the same step, by its place in
    the step.
    """
    if len(parts) < 2 or not all(part.exchanges for part in parts):
        return None
    seen: list[dict[tuple[int, str, int], float]] = []
    for part in parts:
        turns: Counter[tuple[int, str]] = Counter()
        mine: dict[tuple[int, str, int], float] = {}
        for row in part.exchanges:
            mine[row.step, row.name, turns[row.step, row.name]] = row.ms
            turns[row.step, row.name] += 1
        seen.append(mine)
    common = set(seen[0]).intersection(*seen[1:])
    steps = {step for step, _, _ in common}
    if not steps:
        return None
    transfer = sum(min(mine[key] for mine in seen) for key in common) / len(steps)
    whole: defaultdict[int, list[float]] = defaultdict(lambda: [0.0] * len(parts))
    for key in common:
        for index, mine in enumerate(seen):
            whole[key[0]][index] += mine[key]
    wait = {
        part.label: max(sum(took[index] for took in whole.values()) / len(steps) - transfer, 0.0)
        for index, part in enumerate(parts)
    }
    last = Counter(parts[took.index(min(took))].label for took in whole.values())
    return Traced(
        steps=len(steps), exchanges=len(common) / len(steps), transfer_ms=transfer, wait_ms=wait, last=dict(last)
    )


def _often(parts: Sequence[Part], last: Part, seen: Traced | None) -> tuple[int, int, str]:
    """In how many tens of steps that all ranks know this one was the last, of how many; in watch mode of stretches of
    the run; else of traced steps."""
    common = set(parts[0].own_ms).intersection(*(part.own_ms for part in parts[1:]))
    if not common and (stretches := over_time(parts)):
        return sum(each.last == last.label for each in stretches), len(stretches), _STRETCHES
    if common or seen is None:
        late = sum(all(last.own_ms[ten] >= part.own_ms[ten] for part in parts) for ten in common)
        return late, len(common), TENS
    return seen.last.get(last.label, 0), seen.steps, _TRACED


def late(parts: Sequence[Part], seen: Traced | None) -> tuple[Late | None, str]:
    """Return the late rank, or None and why nobody is named ("": nobody is late)."""
    if len(parts) < 2:
        return None, ""
    whole = computing(parts)
    known = [(own, part) for part in parts if (own := own_ms(part, computing=whole)) is not None]
    if len(known) < len(parts):
        return None, ""
    if not _one_step(parts):
        return None, "The steps of the ranks differ by more than a fifth: they don't wait for each other at each step."
    known.sort(key=lambda each: each[0])
    largest, last = known[-1]
    wait = largest - statistics.median(own for own, _ in known[:-1])
    if wait < numbers.MIN_LATE.value * (last.turn_ms or 0.0):
        return None, ""
    if sum(last.rare_ms.values()) >= numbers.MOSTLY_RARE.value * wait:
        return Late(rank=last.label, wait_ms=wait, rare=True, times=sum(last.long_steps.values()), of=last.clean), ""
    times, of, unit = _often(parts, last, seen)
    if of >= numbers.MIN_KNOWN.value and times < numbers.MIN_LAST.value * of:
        return None, f"In the mean {last.label} comes last, but in only {times} of {of} {unit}: nobody is named."
    return Late(rank=last.label, wait_ms=wait, times=times, of=of, unit=unit), ""
