"""Steps that take longer because an epoch begins with them: its first batch is waited for."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

from tfperfkit import calibration
from tfperfkit.records.parts import Cause

#: Causes of an outlier at the beginning of an epoch that may be the fetch of its first batch: inside ``fit`` Python
#: sees a compiled function only.
_FETCHES: tuple[Cause | Literal[""], ...] = ("input", "a compiled function", "operations", "")


class Late(NamedTuple):
    """A step that took longer: its number, ms beyond an ordinary one, why."""

    step: int
    excess_ms: float
    cause: Cause | Literal[""]


class EpochStarts(NamedTuple):
    """``length``: of an epoch, in steps; ``late``: the first steps of epochs that took longer."""

    length: int
    late: tuple[Late, ...]


def epoch_starts(late: Sequence[Late], clean: AbstractSet[int], fetched: bool) -> EpochStarts | None:
    """None when the steps that take longer don't fall on beginnings of epochs. ``clean``: the numbers of the clean
    steps; ``fetched``: Python sees the fetches themselves, so that nothing else is one."""
    found = [item for item in late if item.cause in (_FETCHES[:1] if fetched else _FETCHES)]
    largest = max((item.excess_ms for item in found), default=0.0)
    found = [item for item in found if item.excess_ms >= calibration.CLEAR.value * largest]
    found = found[: calibration.MAX_LATE.value]
    length = _length(found, clean)
    if length is None:
        return None
    return EpochStarts(length, tuple(item for item in found if (item.step - 1) % length == 0))


def _length(late: Sequence[Late], clean: AbstractSet[int]) -> int | None:
    """Return the steps of an epoch, when nearly all of the late steps' time falls on first steps of epochs of that
    length."""
    whole, steps = sum(item.excess_ms for item in late), [item.step for item in late]
    pairs = {b - a for index, a in enumerate(steps) for b in steps[index + 1 :]}
    lengths = {value for value in (*pairs, *(n - 1 for n in steps)) if value >= calibration.MIN_EPOCH.value}
    for length in sorted(lengths, reverse=True):
        on = [item for item in late if (item.step - 1) % length == 0]
        if len(on) < 2 or sum(item.excess_ms for item in on) < calibration.ON_EPOCHS.value * whole:
            continue
        if len(on) >= calibration.OF_EPOCHS.value * sum(1 for n in clean if n > 1 and (n - 1) % length == 0):
            return length
    return None
