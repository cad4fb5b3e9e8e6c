"""The costliest calls of a run or a step, for the first line of a report that knows no cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tfperfkit.diagnosis.places import name_place
from tfperfkit.ledger.call_amounts import find_amount
from tfperfkit.ledger.call_names import name_call
from tfperfkit.ledger.call_tree import CallSite, Ledger
from tfperfkit.ledger.ownership import EXPLAINS, find_owned
from tfperfkit.ledger.thread_ledger import make_thread_ledger
from tfperfkit.ledger.uncertainty import count_run_samples, estimate_range
from tfperfkit.model import CallTime, Finding, SourceSpan
from tfperfkit.offers import CallShapes
from tfperfkit.records.parts import PAID_ONCE
from tfperfkit.rule import Evidence

#: Fewer separate times say little about how often a call was made.
_OFTEN = 3
#: A listed call takes at least this share of the run; more than these are not listed.
_MIN_LISTED, _MAX_LISTED = 0.02, 12


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
        entry for entry in ledger.entries if (entry.part in wanted if wanted else entry.part not in PAID_ONCE)
    )
    sites = mine.find_call_sites(at_least)
    if not sites:
        return None
    name = name_call(sites[0].frame, evidence.source(sites[0].frame.file))
    if not name:
        return None
    times = evidence.log.count_times(sites[0].place)
    often = f", called at least {times} times" if times >= _OFTEN else ""
    rows = _count_rows(evidence, sites[0])
    each = f",{' each' * bool(often)} with {rows:,} rows" if rows else ""
    return NamedCall(sites[0], f"{name} ({name_place(sites[0].where)}){often}{each}")


def _count_rows(evidence: Evidence, site: CallSite) -> int:
    """Return the rows of the largest argument of a call; 0 if they are unknown or few."""
    amount = find_amount(site.frame, evidence.syntax(site.frame.file), evidence.offer(CallShapes))
    return amount.rows if amount is not None else 0


def list_calls(evidence: Evidence, findings: Sequence[Finding]) -> tuple[CallTime, ...]:
    """Return the call sites that took 2 % of the run or more, the costliest first, with the findings that own them."""
    ledger = evidence.run_ledger
    mine = Ledger(entry for entry in ledger.entries if entry.part not in PAID_ONCE)
    every = frozenset(range(len(mine.entries)))
    owners = []
    for finding in findings:
        claim = (finding.share_of_run or 0.0) * ledger.total
        if finding.severity != "info" and claim:
            owners.append((finding.code, claim, find_owned(finding, mine, every, claim)))
    found = []
    samples = count_run_samples(evidence.log)
    for site in mine.find_call_sites(_MIN_LISTED * ledger.total)[:_MAX_LISTED] if ledger.total else ():
        codes = [
            code
            for code, claim, owned in owners
            if min(claim, mine.add_up(owned & site.entries)) >= EXPLAINS * site.value
        ]
        found.append(
            CallTime(
                where=site.where,
                call=name_call(site.frame, evidence.source(site.frame.file)),
                seconds=site.value,
                share_of_run=site.value / ledger.total,
                seconds_range=estimate_range(site.value, ledger.total, samples),
                parts_s=dict(site.parts),
                times=evidence.log.count_times(site.place),
                rows=_count_rows(evidence, site),
                callers=tuple(SourceSpan(frame.file, frame.line, frame.name) for frame in site.callers),
                findings=tuple(dict.fromkeys(codes)),
            )
        )
    return tuple(found)


def list_thread_calls(evidence: Evidence, findings: Sequence[Finding]) -> tuple[CallTime, ...]:
    """Return the call sites on other threads that took 2 % of the run's time or more, the costliest first, with the
    findings that have one of their lines. Their seconds pass next to those of ``list_calls``."""
    ledger, samples = make_thread_ledger(evidence.records("samples"))
    wall_s = evidence.run_ledger.total
    found = []
    for site in ledger.find_call_sites(_MIN_LISTED * wall_s)[:_MAX_LISTED] if wall_s else ():
        callers = tuple(SourceSpan(frame.file, frame.line, frame.name) for frame in site.callers)
        lines = {(place.file, place.line) for place in (site.where, *callers)}
        codes = [
            item.code
            for item in findings
            if item.severity != "info" and lines & {(place.file, place.line) for place in item.where}
        ]
        found.append(
            CallTime(
                where=site.where,
                call=name_call(site.frame, evidence.source(site.frame.file)),
                seconds=site.value,
                share_of_run=site.value / wall_s,
                seconds_range=estimate_range(site.value, ledger.total, samples),
                parts_s=dict(site.parts),
                callers=callers,
                findings=tuple(dict.fromkeys(codes)),
            )
        )
    return tuple(found)
