"""Judgement of the step time against the base: by wall-clock time; if that is undecided, by times that other programs
disturb less.

Design note 42 has the reasons.
"""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit.checking.result import DecidedBy, Measure, Outcome
from tfperfkit.report.difference import change, limits, sentence
from tfperfkit.statistics.comparison import CONFIDENCE, Comparison
from tfperfkit.statistics.paired import paired_ratio

#: Fewer pairs have an interval of many times their spread.
MIN_ROUNDS = 3
#: Confidence of an interval that fails a step after more pairs than these: asked after each pair, 95 % of the time
#: would be wrong for one commit in eight that changes nothing (30 pairs, simulated).
SURE = 0.99
_QUEUED = "without what the training thread waited for a processor"


class Pace(NamedTuple):
    """The ordinary step of one run, in ms: the clock's time, the processor time of all threads, and the clock's less
    the training thread's wait for a processor; None where they are not known."""

    clock: float
    processor: float | None = None
    undisturbed: float | None = None


class Timed:
    """The pairs so far."""

    def __init__(self, allowed: float) -> None:
        self.allowed = allowed
        self.base: list[Pace] = []
        self.head: list[Pace] = []

    @property
    def rounds(self) -> int:
        return len(self.base)

    @property
    def clock(self) -> Comparison | None:
        """Return the comparison of wall-clock time; None before the first pair."""
        return self._paired("clock")

    @property
    def processor(self) -> Comparison | None:
        """Return the comparison of processor time; None if a run has none."""
        return self._paired("processor")

    @property
    def undisturbed(self) -> Comparison | None:
        """Without the wait for a processor; None if a run does not know it."""
        return self._paired("undisturbed")

    def _paired(self, name: str, confidence: float = CONFIDENCE) -> Comparison | None:
        before, after = ([ms for pace in paces if (ms := getattr(pace, name))] for paces in (self.base, self.head))
        if not before or not len(before) == len(after) == self.rounds:
            return None
        return paired_ratio(before, after, confidence=confidence)

    def _is_above(self, name: str, limit: float) -> bool:
        """Return whether a whole interval lies above. The question is asked after each pair, so it has to be sure."""
        found = self._paired(name, CONFIDENCE if self.rounds <= MIN_ROUNDS else SURE)
        return found is not None and found.low is not None and found.low > limit

    @property
    def outcome(self) -> Outcome:
        return self._judged()[0]

    @property
    def decided_by(self) -> DecidedBy:
        """ "" if it is undecided."""
        return self._judged()[1]

    def _judged(self) -> tuple[Outcome, DecidedBy]:
        """Judge by wall-clock time: fails when it is slower by more than chance and by more than is allowed, and one of
        the others (if both are known) says so too; passes when the whole interval is within what is allowed.

        Else fails where the whole interval of another lies above what is allowed, and passes where those of both lie
        within it. The clock's ratio has to lie on that side too, and for processor time that without waiting for a
        processor.
        """
        clock, limit = self.clock, 1 + self.allowed
        if clock is None or clock.high is None or self.rounds < MIN_ROUNDS:
            return "undecided", ""
        processor, undisturbed = self.processor, self.undisturbed
        known = [each for each in (processor, undisturbed) if each is not None]
        if (
            self._is_above("clock", 1)
            and clock.ratio > limit
            and (len(known) < 2 or any(each.ratio > limit for each in known))
        ):
            return "fail", "clock"
        if clock.high <= limit:
            return "pass", "clock"
        if clock.ratio > limit:
            if self._is_above("processor", limit) and (undisturbed is None or undisturbed.ratio > limit):
                return "fail", "processor"
            if self._is_above("undisturbed", limit):
                return "fail", "undisturbed"
        elif len(known) == 2 and all(each.high is not None and each.high <= limit for each in known):
            return "pass", "both"
        return "undecided", ""

    def measure(self) -> Measure:
        """Return the outcome as a line of the check."""
        made = self.clock
        says = "step time: no pair of runs was measured"
        if made is not None:
            says = f"step time against the base: {sentence(made, 'a step')}; allowed are {100 * self.allowed:g} % more"
            says += self._other_measures()
            if self.outcome == "undecided":
                says += f". {limits(made)}".rstrip()
        return Measure(
            name="slowdown",
            title="step time against the base",
            limit=self.allowed,
            value=made.ratio - 1 if made is not None else None,
            unit="share",
            outcome=self.outcome,
            says=says,
        )

    def _other_measures(self) -> str:
        """Return what else was measured, if the wall clock can't tell."""
        by, processor, undisturbed = self.decided_by, self.processor, self.undisturbed
        if by == "clock":
            return ""
        if by == "processor" and processor is not None:
            return f". The clock can't tell here; a step's processor time can: {change(processor)}"
        if by == "undisturbed" and undisturbed is not None:
            return f". The clock can't tell here; {_QUEUED} it can: {change(undisturbed)}"
        known = [f"processor time {change(processor)}"] if processor is not None else []
        known += [f"time {_QUEUED} {change(undisturbed)}"] if undisturbed is not None else []
        if by == "both":
            return (
                f". The clock can't tell here; times that other programs disturb less are within it: {', '.join(known)}"
            )
        return f". Times that other programs disturb less: {', '.join(known)}" if known else ""
