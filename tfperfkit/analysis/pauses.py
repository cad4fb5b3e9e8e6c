"""When the script waited for us: windows being opened and closed, and what stood between two steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import StepTable

#: A window's phase is written as it begins: these are our work, until the next one begins.
_WORKING = ("opening", "closing")


def pauses(phases: Iterable[Any], steps: StepTable) -> Spans:
    """``phases``: rows of ``session/phases.jsonl``, ``[probe, phase, ns]``; a fourth item: by a thread of ours, so that
    the script did not wait."""
    found: list[Span] = list(steps.pauses)
    begun: dict[str, int] = {}
    for row in phases:
        if not isinstance(row, list) or len(row) != 3 or not isinstance(row[2], int):
            continue
        probe, phase, when = str(row[0]), row[1], row[2]
        since = begun.pop(probe, None)
        if since is not None and when > since:
            found.append((since, when))
        if phase in _WORKING:
            begun[probe] = when
    return Spans(found)
