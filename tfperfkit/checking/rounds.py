"""The step time against the base: pairs of runs, in turn, as many as it takes or the time allows."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tfperfkit.analysis.processor_time import step_times
from tfperfkit.analysis.stored_run import open_run
from tfperfkit.checking.runner import Command, Ran, run
from tfperfkit.checking.timed import MIN_ROUNDS, Pace, Timed
from tfperfkit.errors import TfperfError
from tfperfkit.report.difference import change
from tfperfkit.statistics.series import level

MAX_ROUNDS = 30


class Failed(TfperfError):
    """The script did not run to its end, or made no steps."""

    def __init__(self, which: str, why: str, ran: Ran) -> None:
        super().__init__(f"the run of the {which}: {why}")
        self.which = which
        self.ran = ran


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
        found = {name: _pace(command, folder / f"{name}-{number}", name) for name, command in pair}
        timed.base.append(found["base"])
        timed.head.append(found["head"])
        longest = max(longest, time.monotonic() - begun)
        base_ms, head_ms = found["base"].clock, found["head"].clock
        tell(f"pair {number}: base {base_ms:.3g} ms, now {head_ms:.3g} ms a step{_so_far(timed)}")
    return timed


def _so_far(timed: Timed) -> str:
    if timed.rounds < 2 or timed.clock is None:
        return ""
    used = timed.processor
    return f"; together {change(timed.clock)}" + (f", processor time {change(used)}" if used is not None else "")


def _pace(command: Command, folder: Path, which: str) -> Pace:
    """Return the ordinary step of one run; raises Failed."""
    ran = run(command, folder, light=True)
    if ran.failed:
        raise Failed(which, f"the script ended with exit status {ran.status}", ran)
    try:
        stored = open_run(folder)
    except TfperfError as error:
        raise Failed(which, str(error), ran) from error
    times = [step.duration_ns / 1e6 for step in stored.steps.clean if step.duration_ns > 0]
    if not times:
        raise Failed(which, "no clean training step was seen", ran)
    others = step_times(stored.directory.records("session/processor.jsonl"), stored.steps)
    return Pace(level(times).mean, _mean(others.processor), _mean(others.undisturbed))


def _mean(times: Sequence[float] | None) -> float | None:
    """None if it is not known, or too short to be told by the notes that were taken."""
    mean = level(times).mean if times else 0.0
    return mean if mean > 0 else None
