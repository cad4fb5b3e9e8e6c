"""Facts about one rank's run, as far as the report of all ranks needs them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tfperfkit.analysis.analyze import study
from tfperfkit.analysis.brief import brief
from tfperfkit.clock import NS_PER_S
from tfperfkit.diagnosis.rank_samples import sampled
from tfperfkit.errors import RunDirectoryError
from tfperfkit.ledger.part_lines import find_part_lines
from tfperfkit.model import Finding, Report, RunInfo, SourceSpan, StepAccount, StepSummary
from tfperfkit.offers import (
    Exchange,
    Exchanges,
    FunctionCosts,
    InputPace,
    StepBreakdown,
    TraceCounts,
    VaryingArguments,
)
from tfperfkit.ranks.moments import Moment, moments
from tfperfkit.records.parts import PartName, part_of_cause
from tfperfkit.records.parts import part_of as part_named
from tfperfkit.records.samples import MIN
from tfperfkit.rule import Evidence
from tfperfkit.storage.run_directory import Manifest, RunDirectory

#: Parts in which the training thread waits: the compiled functions, and the exchange with the others inside.
INSIDE: tuple[PartName, ...] = ("graph", "collectives")
#: Lines that are kept of a rank.
_LINES = 20
#: Kinds of time between two steps that are excluded from step time, by the most similar part.
_LIKE: dict[str, PartName] = {"validation": "evaluate", "prediction": "evaluate", "tensorflow": "dispatch"}


class Traced(msgspec.Struct, frozen=True, kw_only=True):
    """A function of the user's on one rank: how often it was traced, and what its largest graph holds. ``varying``:
    the Python values that made it trace again, in words."""

    function: str
    file: str
    line: int
    traces: int
    operations: int | None = None
    jit_compile: bool | None = None
    varying: str = ""


class LineTime(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the user's, and ms of a step that the training thread spends in it and in what it calls of libraries,
    by stack samples."""

    file: str
    line: int
    ms: float


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A rank. ``problem``: why there is no report. Times are ms of a step and what passes until the next begins.

    ``outside_ms``: by part, the time out of compiled functions, in which the others may have to wait. ``compute_ms``:
    in compiled functions without the exchange; ``compute_by``: by the "trace" or by "samples"; None: by neither.
    ``own_ms``: until it comes to the exchange, by tens of steps (a step's number, divided). ``rare_ms``: of the time
    outside, what single long steps took beyond the ordinary; ``long_steps``: how many those were, by part.
    ``unknown_ms``: of long steps, for which nothing is known to blame. ``stretched``: how much longer all
    threads took because they waited for CPU cores (1: not at all). ``ended_ns``: of the clock of its machine
    that nobody sets (``clock.now_ns``). ``after_s``: from its start to its end. ``calendar_s``: what
    its calendar says where that clock is 0, in s since 1970; ``clock_error_ms``: of when its exchanges ended.
    ``waited_ms``: in which its training thread was ready and had no processor; None if that was not noted.
    ``pace_ms``: how long its input pipeline needs for a step, waited for or not; None if that was not measured.
    ``moments``: in watch mode, over the run's time.
    ``looked``: whether findings were looked for, and its graphs read; of a thousand ranks only some are.
    """

    name: str
    rank: int | None = None
    size: int | None = None
    role: str = ""
    status: str = ""
    exit_code: int | None = None
    ended_ns: int | None = None
    after_s: float | None = None
    calendar_s: float = 0.0
    clock_error_ms: float = 0.0
    steps: int = 0
    clean: int = 0
    step_ms: float | None = None
    turn_ms: float | None = None
    batch_size: int | None = None
    examples_per_s: float | None = None
    inside_ms: float | None = None
    compute_ms: float | None = None
    compute_by: str = ""
    own_ms: dict[int, float] = {}
    stretched: float | None = None
    exchange_ms: float | None = None
    exchange_hidden_ms: float | None = None
    outside_ms: dict[str, float] = {}
    rare_ms: dict[str, float] = {}
    long_steps: dict[str, int] = {}
    unknown_ms: float = 0.0
    waited_ms: float | None = None
    pace_ms: float | None = None
    at: dict[str, tuple[SourceSpan, ...]] = {}
    lines: tuple[LineTime, ...] = ()
    moments: tuple[Moment, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    functions: tuple[Traced, ...] = ()
    processors: int | None = None
    gflops: float | None = None
    findings: tuple[Finding, ...] = ()
    looked: bool = True
    problem: str = ""

    @property
    def label(self) -> str:
        """``rank 3``"""
        kind, _, number = self.name.partition("-")
        return f"{kind} {int(number)}" if number.isdecimal() else self.name

    @property
    def loud(self) -> tuple[Finding, ...]:
        """Its findings but for remarks."""
        return tuple(finding for finding in self.findings if finding.severity != "info")


def read_part(folder: Path, name: str, *, looked: bool = True) -> Part:
    """Return the part of this name in the folder of the whole; one that can't be read has a ``problem``. Not
    ``looked``: its times and traces only."""
    try:
        if not looked:
            times = brief(folder / name)
            return part_of(name, times.manifest, times.run, times.steps, times.evidence, None)
        _, manifest = RunDirectory.open(folder / name)
        return part_of_report(name, manifest, *study(folder / name))
    except RunDirectoryError as error:
        return Part(name=name, rank=_number(name), problem=str(error))


def _number(name: str) -> int | None:
    digits = name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else None


def part_of_report(name: str, manifest: Manifest, report: Report, evidence: Evidence) -> Part:
    """Return the part of this name, from its own report and what that was made from."""
    return part_of(name, manifest, report.run, report.steps, evidence, report.findings)


def part_of(
    name: str,
    manifest: Manifest,
    run: RunInfo,
    steps: StepSummary,
    evidence: Evidence,
    findings: tuple[Finding, ...] | None,
) -> Part:
    """Return the part of this name. ``findings``: None if none were looked for."""
    number = _number(name)
    rank, account = manifest.rank, steps.account
    traced, pace = evidence.offer(Exchanges), evidence.offer(InputPace)
    part = Part(
        name=name,
        rank=rank.rank if rank is not None else number,
        size=rank.size if rank is not None else None,
        role=rank.role if rank is not None else "",
        status=run.status,
        exit_code=run.exit_code,
        ended_ns=manifest.started_ns + round(run.wall_s * NS_PER_S) if run.wall_s else None,
        after_s=run.wall_s or None,
        calendar_s=manifest.started_wall_s - manifest.started_ns / NS_PER_S,
        clock_error_ms=traced.clock_error_ms if traced is not None else 0.0,
        steps=steps.count,
        clean=steps.clean,
        step_ms=steps.mean_ms,
        batch_size=steps.batch_size,
        examples_per_s=steps.examples_per_s,
        exchange_ms=traced.ms_per_step if traced is not None else None,
        exchange_hidden_ms=traced.hidden_ms_per_step if traced is not None else None,
        exchanges=traced.rows if traced is not None else (),
        functions=_functions(evidence),
        pace_ms=pace.ms_per_step if pace is not None else None,
        processors=run.machine.get("cpus"),
        gflops=run.machine.get("float32_gflops"),
        moments=moments(evidence.history),
        findings=findings or (),
        looked=findings is not None,
    )
    if account is None or not account.parts_ms:
        return part
    turn = account.mean_ms + account.between_total_ms
    waited = evidence.waited_share * turn if evidence.waited_share is not None else None
    parts = _account_fields(account, evidence)
    filled = msgspec.structs.replace(
        part, turn_ms=turn, waited_ms=waited, lines=_costliest_lines(evidence, turn), **parts
    )
    by_samples = sampled(evidence)
    compute = _compute(evidence, traced)
    if compute is not None:
        return msgspec.structs.replace(filled, compute_ms=compute, compute_by="trace")
    if by_samples is None or filled.inside_ms is None:
        return filled
    return msgspec.structs.replace(
        filled,
        compute_ms=by_samples.compute_share * filled.inside_ms,
        compute_by="samples",
        own_ms=by_samples.own_ms,
        stretched=by_samples.stretched,
    )


def _account_fields(account: StepAccount, evidence: Evidence) -> dict[str, object]:
    """Return the fields of a part that come from its account."""
    outside = {str(name): took for name, took in account.parts_ms.items() if name not in INSIDE and took > 0}
    between = account.between_ms or {"other": account.between_total_ms}
    for kind, took in between.items():
        name = _LIKE.get(kind) or part_named(kind) or "other"
        if name not in INSIDE and took > 0:
            outside[name] = outside.get(name, 0.0) + took
    rare: dict[str, float] = {}
    long_steps: dict[str, int] = {}
    unknown = 0.0
    for outlier in account.outliers:
        name = part_of_cause(outlier.cause)
        if not outlier.cause:
            unknown += outlier.excess_ms / account.steps
        elif name not in INSIDE:
            rare[name] = rare.get(name, 0.0) + outlier.found_ms / account.steps
            long_steps[name] = long_steps.get(name, 0) + 1
    return {
        "inside_ms": sum(account.parts_ms.get(name, 0.0) for name in INSIDE),
        "outside_ms": outside,
        "rare_ms": rare,
        "long_steps": long_steps,
        "unknown_ms": min(unknown, outside.get("other", 0.0)),
        "at": {name: tuple(find_part_lines(evidence.ledger, name)) for name in account.parts_ms if outside.get(name)},
    }


def _costliest_lines(evidence: Evidence, turn_ms: float) -> tuple[LineTime, ...]:
    """Return the costliest lines; none if samples are too few."""
    samples = evidence.samples
    if samples.count < MIN:
        return ()
    shares = {place: samples.leaf_share(place) for place in samples.leaves()}
    largest = sorted(shares, key=lambda place: -shares[place])[:_LINES]
    return tuple(LineTime(file=file, line=line, ms=shares[file, line] * turn_ms) for file, line in largest)


def _compute(evidence: Evidence, traced: Exchanges | None) -> float | None:
    """ms of a traced step in compiled functions, without the exchange with others in which nothing computes."""
    breakdown = evidence.offer(StepBreakdown)
    if traced is None or breakdown is None or "graph" not in breakdown.parts_ms:
        return None
    return max(0.0, breakdown.parts_ms["graph"] - traced.ms_per_step + (traced.hidden_ms_per_step or 0.0))


def _functions(evidence: Evidence) -> tuple[Traced, ...]:
    counts, costs = evidence.offer(TraceCounts), evidence.offer(FunctionCosts)
    varying = evidence.offer(VaryingArguments)
    made = []
    for row in counts.functions if counts is not None else ():
        if row.owner != "user":
            continue
        key = (row.file, row.line)
        graphs = [cost for cost in costs.functions if (cost.file, cost.line) == key] if costs is not None else []
        words = [
            f"{each.argument}={', '.join(each.values[:3])}"
            for each in (varying.arguments if varying is not None else ())
            if (each.file, each.line) == key
        ]
        made.append(
            Traced(
                function=row.function,
                file=row.file,
                line=row.line,
                traces=row.traces,
                operations=max((cost.operations for cost in graphs), default=None),
                jit_compile=any(cost.jit_compile for cost in graphs) if graphs else None,
                varying="; ".join(words),
            )
        )
    return tuple(made)
