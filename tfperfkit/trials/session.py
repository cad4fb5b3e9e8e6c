"""All trials of one command: from the changes to the report of what they measured."""

from __future__ import annotations

import math
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from tfperfkit.errors import UsageError
from tfperfkit.launch import target
from tfperfkit.launch.arguments import Split
from tfperfkit.model import Report, RunInfo, StepSummary
from tfperfkit.recording.environment import processors
from tfperfkit.records.trials import TRIALS_SCHEMA, Measured, TrialPlan, TrialReport
from tfperfkit.report.terminal import is_quiet
from tfperfkit.trials.choice import Choice
from tfperfkit.trials.judging import ORDER, Variant, baseline
from tfperfkit.trials.outcome import MIN_WARM, Outcome
from tfperfkit.trials.process import Script
from tfperfkit.trials.rounds import PLAIN, Budget, Group
from tfperfkit.trials.scratch import Scratch
from tfperfkit.trials.workspace import workspace

#: A plain run that differs from another by this factor is no ground to compare on.
_UNSTEADY = 1.25
_USUAL_MULTIPLE, _MAX_MULTIPLE = 16, 500
#: With slow steps: a trial ends after three to five slow steps, by their length.
_SLOW_STEADY_S = 2.0
#: Shares of the time for all trials that one trial may take.
_SHARE, _SLOW_SHARE = 1 / 3, 2 / 3


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """The request. ``choose`` gets a sketch of the script once it has run, and says what else to try;
    ``together``: the best of all are tried together at the end; ``slow``: a step is known to take a second or more;
    ``contents``: of files, by path, that are others in all trials; ``brief``: see ``judging.decided``."""

    variants: tuple[Variant, ...] = ()
    choose: Callable[[Report], list[Variant]] | None = None
    together: bool = False
    seconds: float = 180.0
    steady_s: float = 4.0
    steps: int | None = None
    whole: bool = False
    in_place: bool = False
    steps_from: str | None = None
    folder: Path | None = None
    seed: int | None = None
    slow: bool = False
    contents: dict[str, bytes] = {}
    brief: bool = False


def run_trials(parts: Split, wishes: Wishes, choice: Choice, terminal: TextIO | None) -> TrialReport:
    """Measure; raises UsageError where the script can't be run, or fails as it is."""
    folder = wishes.folder or Path.cwd()
    script = None if parts.is_module else Path(parts.target)
    budget = Budget(wishes.seconds)
    progress = Progress(terminal, budget)
    with Scratch(folder) as scratch:
        place = workspace(folder, script, scratch.path, in_place=wishes.in_place)
        runner = _Runner(Script(parts, scratch, place, wishes.steps_from), progress, wishes.contents)
        try:
            return _Trials(parts, wishes, choice, budget, runner).go(place.words)
        finally:
            progress.end()


class _Runner:
    """Runs a trial and says so."""

    def __init__(self, script: Script, progress: Progress, contents: dict[str, bytes]) -> None:
        self._script, self._progress, self._contents = script, progress, contents

    def __call__(self, variant: Variant | None, plan: TrialPlan) -> Outcome:
        self._progress.begin(variant.text if variant else PLAIN)
        if variant is None:
            return self._script.trial(plan, {}, contents=self._contents, wait=self._progress.look)
        plan = msgspec.structs.replace(plan, changes=list(variant.changes), nudge=variant.nudge)
        contents = {**self._contents, **variant.contents}
        return self._script.trial(
            plan, variant.environment, variant.arguments, variant.edited, contents, self._progress.look
        )


class _Trials:
    def __init__(self, parts: Split, wishes: Wishes, choice: Choice, budget: Budget, runner: _Runner) -> None:
        self._parts, self._wishes, self._choice, self._budget = parts, wishes, choice, budget
        self._runner = runner
        self._dice = random.Random(wishes.seed)
        self._results: list[Measured] = []
        self._ended = ""
        self._left: list[Variant] = []

    def go(self, way: str) -> TrialReport:
        variants = list(self._wishes.variants)
        plain: list[Outcome] = []
        try:
            if self._wishes.whole or any(not item.whole for item in variants) or self._wishes.choose:
                group = self._group(self._wishes.whole, variants)
                first = group.begin()
                self._check(first)
                if self._wishes.choose:
                    variants += self._wishes.choose(_sketch(self._parts, first))
                self._measure(group, [item for item in variants if self._wishes.whole or not item.whole])
                plain = group.plain
                if self._wishes.together and not self._ended:
                    self._try_together(group)
            rest = [item for item in variants if item.whole and not self._wishes.whole]
            if rest and not self._ended:
                group = self._group(True, rest)
                self._check(group.begin())
                self._measure(group, rest)
                plain = plain or group.plain
        except KeyboardInterrupt:
            self._ended = self._ended or "interrupted"
        base = baseline(plain)
        notes = []
        if base is not None and base.spread > _UNSTEADY:
            notes.append(
                f"Runs of the unchanged script vary by {base.spread:.2f}x on this machine, so small differences cannot "
                "be detected."
            )
        if self._left:
            self._ended = self._ended or "the time was over"
            notes.append("Not tried, the time was over: " + ", ".join(item.text for item in self._left) + ".")
        return TrialReport(
            schema=TRIALS_SCHEMA,
            argv=tuple(target.printable(word) for word in (self._parts.target, *self._parts.script_arguments)),
            way=way,
            baseline=base,
            measured=tuple(self._results),
            seconds=self._budget.passed,
            ended=self._ended,
            notes=tuple(notes),
        )

    def _group(self, whole: bool, variants: Sequence[Variant]) -> Group:
        limit = max(self._budget.seconds, 30.0) if whole else self._limit()
        # A multiple of 16 and of all that is made in one call, unless that is out of proportion.
        multiple = math.lcm(_USUAL_MULTIPLE, *(item.multiple for item in variants))
        plan = TrialPlan(
            whole=whole,
            seconds=self._wishes.steady_s,
            steps=self._wishes.steps,
            limit_s=limit,
            multiple=multiple if multiple <= _MAX_MULTIPLE else _USUAL_MULTIPLE,
        )
        if self._wishes.slow:
            plan = msgspec.structs.replace(
                plan, warm_steps=MIN_WARM, seconds=min(self._wishes.steady_s, _SLOW_STEADY_S)
            )
        return Group(self._runner, self._budget, plan, self._dice, self._wishes.brief)

    def _limit(self) -> float:
        """For one trial; slow steps need most of the time for a pair."""
        share = _SLOW_SHARE if self._wishes.slow else _SHARE
        return min(max(self._budget.seconds * share, 30.0), 180.0)

    def _check(self, first: Outcome) -> None:
        """Raises UsageError: with nothing to compare with, all that follows is in vain."""
        if first.error:
            raise UsageError(f"the script can't be timed as it is: {first.error}")

    def _measure(self, group: Group, variants: Sequence[Variant]) -> None:
        """As many at a time as the budget has room for; the rest when those are done."""
        waiting = list(variants)
        while waiting:
            if self._results and not group.room:
                self._left = waiting
                return
            count = group.capacity
            self._results += group.measure(waiting[:count])
            waiting = waiting[count:]
            if group.interrupted:
                self._ended = "interrupted"
                self._left = waiting
                return

    def _try_together(self, group: Group) -> None:
        """Try all that was faster by itself and is a fix, at once."""
        best = [
            item
            for item in self._results
            if item.verdict == "faster" and item.keeps != "ceiling" and "+" not in item.experiment
        ]
        best.sort(key=lambda item: ORDER.index(item.keeps))
        if len(best) < 2 or self._budget.left <= 0:
            return
        changes = [self._choice.typed(item.experiment) for item in best if not item.experiment.startswith("-")]
        if len(changes) > 1:
            self._measure(group, [self._choice.variant(changes)])


def _sketch(parts: Split, first: Outcome) -> Report:
    """Return the facts about the script after its first run, in the form that experiments read."""
    from tfperfkit.model import Overhead

    return Report(
        schema=1,
        run=RunInfo(argv=(parts.target,), exit_code=0, status="finished", machine={"cpus": processors()}),
        probes=(),
        steps=StepSummary(
            count=first.steps, source=first.source, median_ms=first.ns / 1e6, batch_size=first.batch_size or None
        ),
        findings=(),
        overhead=Overhead(),
    )


def working_folder() -> Path:
    """Raises UsageError when it is gone."""
    try:
        return Path(os.getcwd())
    except OSError as error:
        raise UsageError(f"the current folder is gone ({error.strerror}): change to another one") from error


def terminal() -> TextIO | None:
    """Return the stream on which progress is shown; None with ``--quiet``."""
    return None if is_quiet() else sys.stderr


_EVERY_S = 0.5


class Progress:
    """One line on a terminal that says which trial runs and how much of the time is gone; nothing if ``file`` is
    none."""

    def __init__(self, file: TextIO | None, budget: Budget) -> None:
        self._file = file if file is not None and file.isatty() else None
        self._budget = budget
        self._last = 0.0
        self._what = ""

    def begin(self, what: str) -> None:
        """Show that a trial begins."""
        self._what, self._last = what, 0.0

    def look(self, _: float) -> None:
        """Update the line; called often while a trial runs."""
        now = time.monotonic()
        if self._file is None or now - self._last < _EVERY_S:
            return
        self._last = now
        text = f"tfperf: {self._what} | {self._budget.passed:.0f} of {self._budget.seconds:.0f} s"
        self._write(f"\r\x1b[2K{text[:78]}")

    def end(self) -> None:
        """Remove the line."""
        self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        if self._file is not None:
            try:
                self._file.write(text)
                self._file.flush()
            except OSError:
                self._file = None
