"""The figures that decide about a step time against the base, and those that don't."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from tfperfkit.checking.timed import MIN_ROUNDS, Pace, Timed

#: How pairs of runs differed on a machine where others worked, as standard deviations of one run: wall-clock time,
#: processor time, wall-clock time without waiting for a CPU core.
BUSY = (0.36, 0.10, 0.24)


def pairs(*found: tuple[Pace, Pace], allowed: float = 0.05) -> Timed:
    timed = Timed(allowed)
    for base, head in found:
        timed.base.append(base)
        timed.head.append(head)
    return timed


def simulated(seed: int, allowed: float, clock: float, processor: float, undisturbed: float, upper: int = 10) -> Timed:
    """Pairs until it is decided, on a busy machine; the head takes so many times as long by each measure."""
    dice, timed = random.Random(seed), Timed(allowed)

    def pace(*factors: float) -> Pace:
        common = dice.gauss(0, 1)
        own = (common, 0.5 * common + 0.87 * dice.gauss(0, 1), 0.8 * common + 0.6 * dice.gauss(0, 1))
        return Pace(*(10 * f * math.exp(s * x) for f, s, x in zip(factors, BUSY, own, strict=True)))

    while timed.rounds < upper and (timed.rounds < MIN_ROUNDS or timed.outcome == "undecided"):
        timed.base.append(pace(1, 1, 1))
        timed.head.append(pace(clock, processor, undisturbed))
    return timed


NOISY = [(Pace(10, 8, 9), Pace(20, 19, 20)), (Pace(30, 8, 9), Pace(35, 20, 22)), (Pace(12, 8, 9), Pace(60, 19, 21))]


def test_processor_time_fails_a_step_where_the_clock_cannot_tell() -> None:
    timed = pairs(*NOISY)
    assert timed.clock is not None and timed.clock.verdict == "no difference shown"
    assert (timed.outcome, timed.decided_by) == ("fail", "processor")
    assert "The clock can't tell here; a step's processor time can: 2.4x (95 % interval" in timed.measure().says


def test_it_does_not_where_the_clock_contradicts() -> None:
    """More threads for less time."""
    timed = pairs(*((base, head._replace(clock=base.clock * 0.9)) for base, head in NOISY))
    assert timed.outcome != "fail"
    waits = pairs(*((base, head._replace(undisturbed=base.undisturbed)) for base, head in NOISY))
    assert (waits.outcome, waits.decided_by) == ("undecided", "")
    assert "Times that other programs disturb less: processor time 2.4x" in waits.measure().says


def test_no_more_processor_time_alone_passes_nothing() -> None:
    """Fail a step that waits longer: it uses no more processor time."""
    same = [(Pace(base.clock, 8, 9), Pace(base.clock * (1 + 0.5 * n), 8, None)) for n, (base, _) in enumerate(NOISY)]
    assert pairs(*same).outcome == "undecided"
    sleeps = [(Pace(base.clock, 8, 9), Pace(head.clock, 8, 29)) for base, head in NOISY]
    assert (pairs(*sleeps).outcome, pairs(*sleeps).decided_by) == ("fail", "undisturbed")


def test_both_within_what_is_allowed_pass_unless_the_clock_contradicts() -> None:
    ratios = (0.7, 1.5, 0.9)
    alike = [(Pace(10, 8, 9), Pace(10 * r, 8.01 + r / 100, 9.01 + r / 100)) for r in ratios]
    assert (pairs(*alike).outcome, pairs(*alike).decided_by) == ("pass", "both")
    assert "are within it: processor time +0.3 %" in pairs(*alike).measure().says
    assert pairs(*((a, b._replace(clock=b.clock * 1.3)) for a, b in alike)).outcome == "undecided"


def test_the_clock_is_not_believed_where_neither_of_the_others_agrees() -> None:
    """The step waited for a CPU core, and nothing of ours used more cores: other programs did."""
    queued = [(Pace(10, 8, 9), Pace(13 + n / 100, 8 - n, 9 - n)) for n in range(3)]
    assert pairs(*queued).outcome == "undecided"
    assert pairs(*((Pace(a.clock), Pace(b.clock)) for a, b in queued)).outcome == "fail"  # nothing else is known


@pytest.mark.parametrize(("allowed", "false_alarms"), [(0.05, 0.08), (0.5, 0.03)])
def test_simulated_commits_on_a_busy_machine(allowed: float, false_alarms: float) -> None:
    nothing = Counter(simulated(seed, allowed, 1, 1, 1).outcome for seed in range(100))
    assert nothing["fail"] <= 100 * false_alarms
    slower = Counter(simulated(seed, allowed, 2.4, 2.4, 2.4).outcome for seed in range(100))
    assert slower["fail"] >= 95 and slower["pass"] == 0
    sleeps = Counter(simulated(seed, allowed, 2, 1, 2).outcome for seed in range(100))
    assert sleeps["pass"] <= 2
