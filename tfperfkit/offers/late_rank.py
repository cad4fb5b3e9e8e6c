"""A rank that comes late to the exchange, for which the others wait, and what makes it late."""

from __future__ import annotations

import msgspec

from tfperfkit.records.parts import PartName
from tfperfkit.records.source_span import SourceSpan

#: The unit of ``Late.times`` where nothing else is known.
TENS = "tens of steps"
#: Kinds of causes.
INPUT: PartName = "input"
EVALUATION = "evaluation"


class Late(msgspec.Struct, frozen=True, kw_only=True):
    """``wait_ms``: of a step, of the middle one of the others. ``rare``: it comes from single long steps, in ``times``
    of ``of`` steps; else the rank was the last in ``times`` of ``of`` of the ``unit`` (0 of 0: not known)."""

    rank: str
    wait_ms: float
    rare: bool = False
    times: int = 0
    of: int = 0
    unit: str = TENS


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """``kind``: "input", "tracing", "garbage collection", "saving", "evaluation", "Python", "alone" (a line that the
    others don't come to, whatever it does), "more work", "slower processor", "computing" (for the same work, and
    nothing says why). ``ms``: of a step, more than the others take.
    ``code`` and ``title``: of the finding that tells it, "" if none does."""

    kind: str
    ms: float
    words: str
    code: str = ""
    title: str = ""
    where: SourceSpan | None = None


class LateRank(msgspec.Struct, frozen=True, kw_only=True):
    """``turn_ms``: of a step and what passes until the next. ``cause``: None if nothing explains most of the wait."""

    late: Late
    cause: Cause | None
    turn_ms: float
