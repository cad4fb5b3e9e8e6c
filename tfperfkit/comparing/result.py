"""Result of a comparison of two runs: the JSON of ``tfperf compare``, and all that its renderer knows."""

from __future__ import annotations

from typing import Literal

import msgspec

from tfperfkit.model import SourceSpan, Unit
from tfperfkit.statistics.comparison import Comparison

#: Version of the JSON document.
COMPARE_SCHEMA = 1
#: Kind of a difference of set-up. Users mean to compare "code"; with other differences two times don't measure the
#: code.
SetupKind = Literal["code", "configuration", "machine"]
CauseKind = Literal["part", "line", "operation", "traces", "calls", "memory"]


class Setup(msgspec.Struct, frozen=True):
    """Something in which the runs were made differently."""

    kind: SetupKind
    what: str
    a: str
    b: str


class SourceChange(msgspec.Struct, frozen=True):
    """A file of the user's that differs, as a unified diff without its head."""

    file: str
    added: int
    removed: int
    diff: tuple[str, ...] = ()


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity of both runs; None if it is not known."""

    name: str
    a: float | None
    b: float | None
    unit: Unit


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Something that takes more or less, or is there oftener or less often. ``change``: "new", "gone" or "". Times are
    ms for one step; ``where`` is in run B, or in A where it is gone."""

    kind: CauseKind
    name: str
    a: float
    b: float
    unit: Unit
    where: SourceSpan | None = None
    source: str = ""
    change: Literal["new", "gone", ""] = ""

    @property
    def difference(self) -> float:
        return self.b - self.a


class FindingChange(msgspec.Struct, frozen=True):
    """A finding of one run only, or of both where its share of the step changed by a tenth of the step or more."""

    code: str
    title: str
    change: Literal["new", "gone", "grown", "shrunk"]
    a: float | None  # share of the step
    b: float | None
    where: SourceSpan | None = None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Run B against run A. ``step``: the ordinary step time, or time for an example where the batch sizes differ
    (``per_example``); None if one has no steps. ``with_outliers``: the same with every step as it was;
    ``processor``: of the processor time, None if that was not noted of both. ``culprit``: the line that accounts for
    most of the difference."""

    schema: int = COMPARE_SCHEMA
    a: str
    b: str
    setup: tuple[Setup, ...] = ()
    sources: tuple[SourceChange, ...] = ()
    step: Comparison | None = None
    with_outliers: Comparison | None = None
    processor: Comparison | None = None
    per_example: bool = False
    figures: tuple[Figure, ...] = ()
    causes: tuple[Cause, ...] = ()
    culprit: Cause | None = None
    findings: tuple[FindingChange, ...] = ()
    notes: tuple[str, ...] = ()
