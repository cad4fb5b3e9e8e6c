"""The step time against the base: pairs of runs, in turn, as many as it takes or the time allows."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from tfperfkit.analysis.stored_run import open_run
from tfperfkit.checking.result import Measure, Outcome
from tfperfkit.checking.runner import Command, Ran, run
from tfperfkit.errors import TfperfError
from tfperfkit.report.difference import limits, sentence
from tfperfkit.statistics.comparison import Comparison
from tfperfkit.statistics.paired import paired_ratio
from tfperfkit.statistics.series import level

#: Fewer pairs have an interval of many times their spread.
MIN_ROUNDS = 3
MAX_ROUNDS = 30


class Failed(TfperfError):
    """The script did not run to its end, or made no steps."""

    def __init__(self, which: str, why: str, ran: Ran) -> None:
        super().__init__(f"the run of the {which}: {why}")
        self.which = which
        self.ran = ran


class Timed:
    """The pairs so far."""

    def __init__(self, allowed: float) -> None:
        self.allowed = allowed
        self.base: list[float] = []
        self.head: list[float] = []

    @property
    def rounds(self) -> int:
        return len(self.base)

    @property
    def comparison(self) -> Comparison | None:
        return paired_ratio(self.base, self.head) if self.base else None

    @property
    def outcome(self) -> Outcome:
        """Fails when it is slower by more than chance and by more than is allowed; passes when the whole interval, or
        all that these runs could not have missed, is within what is allowed."""
        made = self.comparison
        if made is None or made.low is None or made.high is None or self.rounds < MIN_ROUNDS:
            return "undecided"
        if made.low > 1 and made.ratio > 1 + self.allowed:
            return "fail"
        return "pass" if made.high <= 1 + self.allowed else "undecided"

    def measure(self) -> Measure:
        """The outcome as a line of the check."""
        made = self.comparison
        says = "step time: no pair of runs was measured"
        if made is not None:
            says = f"step time against the base: {sentence(made, 'a step')}; allowed are {100 * self.allowed:g} % more"
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


def measure_time(
    base: Command, head: Command, folder: Path, allowed: float, until_s: float, tell: Callable[[str], None]
) -> Timed:
    """Pairs in random order until the outcome is clear or the next pair would end after ``until_s`` (monotonic)."""
    timed, longest = Timed(allowed), 0.0
    chance = random.Random(0)
    while timed.rounds < MAX_ROUNDS:
        begun = time.monotonic()
        if timed.rounds >= MIN_ROUNDS and (timed.outcome != "undecided" or begun + longest > until_s):
            break
        pair = [("base", base), ("head", head)]
        chance.shuffle(pair)
        number = timed.rounds + 1
        found = {name: _step_ms(command, folder / f"{name}-{number}", name) for name, command in pair}
        timed.base.append(found["base"])
        timed.head.append(found["head"])
        longest = max(longest, time.monotonic() - begun)
        made = timed.comparison
        tell(f"pair {number}: base {found['base']:.3g} ms, now {found['head']:.3g} ms a step" + _so_far(made))
    return timed


def _so_far(made: Comparison | None) -> str:
    if made is None or made.low is None or made.high is None:
        return ""
    return f"; together {(made.ratio - 1) * 100:+.1f} % ({(made.low - 1) * 100:+.1f} to {(made.high - 1) * 100:+.1f} %)"


def _step_ms(command: Command, folder: Path, which: str) -> float:
    """The ordinary step of one run; raises Failed."""
    ran = run(command, folder, light=True)
    if ran.failed:
        raise Failed(which, f"the script ended with exit status {ran.status}", ran)
    try:
        steps = open_run(folder).steps
    except TfperfError as error:
        raise Failed(which, str(error), ran) from error
    times = [step.duration_ns / 1e6 for step in steps.clean if step.duration_ns > 0]
    if not times:
        raise Failed(which, "no clean training step was seen", ran)
    return level(times).mean
