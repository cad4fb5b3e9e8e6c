"""Results of a check: the JSON of ``tfperf check``, and all that its renderers know."""

from __future__ import annotations

from typing import Literal

import msgspec

from tfperfkit.model import Finding, SourceSpan, Unit
from tfperfkit.statistics.comparison import Comparison

CHECK_SCHEMA = 1
#: "undecided": it could not be measured, or not well enough.
Outcome = Literal["pass", "fail", "undecided"]
#: Measured times that decided the outcome of the step time.
DecidedBy = Literal["clock", "processor", "undisturbed", "both", ""]
EXIT_STATUS: dict[Outcome, int] = {"pass": 0, "fail": 1, "undecided": 3}


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """One bound of the budget. ``says``: the outcome in a sentence; ``where``: what is to blame, as far as known."""

    name: str
    title: str
    limit: float | None
    value: float | None
    unit: Unit
    outcome: Outcome
    says: str
    where: tuple[SourceSpan, ...] = ()


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A whole check. ``time``: the step time against ``base`` after ``rounds`` pairs of runs, ``processor``: the
    processor time of a step, ``undisturbed``: its time without what the training thread waited for a processor,
    ``decided_by``: which did ("both": the last two; "": none). ``run``: what to type after ``tfperf report``;
    ``findings``: all of the run, whether the budget speaks of them or not."""

    schema: int = CHECK_SCHEMA
    outcome: Outcome
    script: str
    measures: tuple[Measure, ...]
    time: Comparison | None = None
    processor: Comparison | None = None
    undisturbed: Comparison | None = None
    decided_by: DecidedBy = ""
    base: str = ""
    rounds: int = 0
    run: str = ""
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


def overall(measures: tuple[Measure, ...]) -> Outcome:
    """Return "fail" if anything failed; else undecided results leave the whole check undecided."""
    outcomes = {measure.outcome for measure in measures}
    return "fail" if "fail" in outcomes else "undecided" if "undecided" in outcomes else "pass"
