"""The costliest calls of a run or a step, for the first line of a report that knows no cause."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.ledger.call_names import name_call
from tfperfkit.ledger.call_tree import CallSite, Ledger
from tfperfkit.model import MIN_BETWEEN, SourceSpan
from tfperfkit.records.samples import Place
from tfperfkit.rule import Evidence

#: Fewer separate times say little about how often a call was made.
_OFTEN = 3
#: Parts of a run that no call of the user's can shorten.
_PAID_ONCE = ("imports", "ending", "tfperf", "not sampled")


class NamedCall(NamedTuple):
    """A call site with the words for it: ``model.export (train.py:24), called at least 25 times``."""

    site: CallSite
    words: str


def find_costliest_call(
    evidence: Evidence, ledger: Ledger, at_least: float, parts: Iterable[str] = ()
) -> NamedCall | None:
    """Return the call that takes most of a ledger, if that is ``at_least`` or more and the call has a name.

    ``parts``: only what is in these parts counts; none stands for all that are not paid once.
    """
    wanted = set(parts)
    mine = Ledger(
        entry for entry in ledger.entries if (entry.part in wanted if wanted else entry.part not in _PAID_ONCE)
    )
    sites = mine.find_call_sites(max(at_least, MIN_BETWEEN * ledger.total))
    if not sites:
        return None
    name = name_call(sites[0].frame, evidence.source(sites[0].frame.file))
    if not name:
        return None
    times = count_times(evidence, sites[0].place)
    often = f", called at least {times} times" if times >= _OFTEN else ""
    return NamedCall(sites[0], f"{name} ({_name_place(sites[0].where)}){often}")


def count_times(evidence: Evidence, place: Place) -> int:
    """Return how many separate times a line was seen to run: samples in a row count as one time."""
    times, before = 0, False
    for _, stack in evidence.log.inside(evidence.log.whole):
        here = any((frame.file, frame.line) == place for frame in stack.frames)
        times += here and not before
        before = here
    return times


def _name_place(span: SourceSpan) -> str:
    """Return ``train.py:12``."""
    return f"{span.file.rpartition('/')[2]}:{span.line}"
