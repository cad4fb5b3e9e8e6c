"""A run against the bounds of the budget: counts, shares, memory, findings. No time is judged here."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tfperfkit.analysis.counts import OWNERS, eager_per_step, graph_operations, reads_per_step, retraces
from tfperfkit.checking.budget import Budget
from tfperfkit.checking.result import Measure, Outcome
from tfperfkit.model import Family, Finding, Report, SourceSpan, Unit
from tfperfkit.offers import FunctionCosts, HostReads, MemoryUse, TraceCounts
from tfperfkit.report import numbers
from tfperfkit.rule import Evidence

_MB = 1e6
_PLACES = 5
Places = tuple[SourceSpan, ...]


class Run(NamedTuple):
    """The checked run."""

    report: Report
    evidence: Evidence


class _Bound(NamedTuple):
    title: str
    unit: Unit
    value: Callable[[Run], float | None]
    places: Callable[[Run], Places]


def judge(run: Run, budget: Budget, *, interrupted: bool = False) -> list[Measure]:
    """Return a measure for each bound that the budget has, and one for each pattern of findings. ``interrupted``:
    before the script's end, so that what there is to find may not have begun."""
    early = interrupted and not run.report.steps.count and not any(work.iterations for work in run.report.work)
    made = []
    for name, limit in budget.limits.items():
        bound = _BOUNDS[name]
        value = bound.value(run)
        # Counts of a trace of whole steps are whole numbers but for rounding.
        outcome: Outcome = "undecided" if value is None else "pass" if value <= limit + 1e-6 else "fail"
        places = bound.places(run) if outcome == "fail" else ()
        says = _says(bound, value, limit, outcome)
        made.append(
            Measure(
                name=name, title=bound.title, limit=limit, value=value, unit=bound.unit, outcome=outcome, says=says,
                where=places,
            )
        )  # fmt: skip
    return [*made, *(_no_findings(run.report.findings, pattern, early) for pattern in budget.findings)]


def _says(bound: _Bound, value: float | None, limit: float, outcome: Outcome) -> str:
    if value is None:
        why = "too few steps (200 are enough), or its probe did not work here"
        return f"{bound.title}: not measured in this run: {why}"
    shown, allowed = (numbers.alone(float(each), bound.unit) for each in (value, limit))
    return f"{bound.title}: {shown}, the budget is {allowed}"


def _no_findings(findings: Iterable[Finding], pattern: str, early: bool) -> Measure:
    found = [each for each in findings if _is_meant(each, pattern)]
    first = found[0] if found else None
    says = f"no finding {pattern}{', but nothing was trained until the interruption' if early else ''}"
    if first is not None:
        others = f", and {len(found) - 1} more" if len(found) > 1 else ""
        says = f"{first.code}: {first.title}{others}"
    return Measure(
        name=f"findings {pattern}",
        title=f"findings {pattern}",
        limit=0,
        value=len(found),
        unit="count",
        outcome="fail" if found else "undecided" if early else "pass",
        says=says,
        where=tuple(span for each in found for span in each.where[:1])[:_PLACES],
    )


def _is_meant(finding: Finding, pattern: str) -> bool:
    """Remarks ask for no change, so they count only where their code is written out."""
    if finding.severity == "info":
        return finding.code == pattern
    return fnmatch.fnmatchcase(finding.code, pattern)


def _input_share(run: Run) -> float | None:
    return run.evidence.share("input") if run.evidence.account is not None and run.evidence.account.parts_ms else None


def _peak(run: Run) -> float | None:
    use = run.evidence.offer(MemoryUse)
    peak = run.report.run.machine.get("peak_rss_bytes")
    if isinstance(peak, int):
        return peak / _MB
    return use.peak_bytes / _MB if use is not None else None


def _growth(run: Run) -> float | None:
    use = run.evidence.offer(MemoryUse)
    return use.growth_bytes_per_step / _MB if use is not None and use.growth_bytes_per_step is not None else None


def _retraced(run: Run) -> Places:
    counts = run.evidence.offer(TraceCounts)
    rows = [each for each in counts.functions if each.owner in OWNERS and each.retraces] if counts is not None else []
    rows.sort(key=lambda each: -each.retraces)
    spans = [SourceSpan(each.file, each.line, each.function) for each in rows]
    return tuple(spans[:_PLACES])


def _read(run: Run) -> Places:
    reads = run.evidence.offer(HostReads)
    rows = sorted(reads.rows if reads is not None else (), key=lambda row: -(row.per_step or 0.0))
    return tuple(SourceSpan(row.file, row.line) for row in rows[:_PLACES])


def _graphs(run: Run) -> Places:
    costs = run.evidence.offer(FunctionCosts)
    rows = [each for each in costs.functions if each.owner == "user"] if costs is not None else []
    rows.sort(key=lambda each: -each.operations)
    return tuple(dict.fromkeys(SourceSpan(each.file, each.line, each.function) for each in rows))[:1]


def _of_family(*families: Family) -> Callable[[Run], Places]:
    """Return the places of findings of these families; else the place of the training loop."""

    def places(run: Run) -> Places:
        found = [each for each in run.report.findings if each.family in families]
        spans = tuple(span for each in found for span in each.where[:1])[:_PLACES]
        loop = run.evidence.steps.loop
        return spans or ((SourceSpan(loop.file, loop.line),) if loop is not None else ())

    return places


_BOUNDS: dict[str, _Bound] = {
    "retraces": _Bound("retraces in the run", "count", lambda run: retraces(run.evidence), _retraced),
    "eager_ops_per_step": _Bound(
        "operations called one by one in a step",
        "count",
        lambda run: eager_per_step(run.evidence),
        _of_family("eager", "sync"),
    ),
    "host_syncs_per_step": _Bound(
        "values read back in a step", "count", lambda run: reads_per_step(run.evidence), _read
    ),
    "graph_ops": _Bound(
        "operations in compiled functions", "count", lambda run: graph_operations(run.evidence), _graphs
    ),
    "input_share": _Bound("waiting for input, of a step", "share", _input_share, _of_family("input")),
    "peak_memory_mb": _Bound("peak memory in MB", "number", _peak, _of_family("memory")),
    "memory_growth_mb_per_step": _Bound("growth of memory in MB a step", "number", _growth, _of_family("memory")),
}
