"""Made-up runs to compare: reports with their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from remedies import remedy_of

from tfperfkit.comparing.side import Side
from tfperfkit.gain import Range
from tfperfkit.model import REPORT_SCHEMA, Finding, Measurement, Overhead, Report, SourceSpan, StepAccount, StepSummary
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.testing import evidence_of

FOLDER = "/work/train"
FILE = f"{FOLDER}/train.py"


def make_finding(code: str = "RET002", line: int = 3, share: float = 0.3) -> Finding:
    return Finding(
        code=code,
        family="retrace",
        title="A function is traced again",
        severity="high",
        share_of_step=share,
        gain=Range(1.4, 1.4, 1.4),
        where=(SourceSpan(FILE, line, "main"),),
        evidence=(Measurement("retraces", 7, "count"),),
        advice="Pass a tensor.",
        remedy=remedy_of(code),
    )


def make_side(
    name: str = "a",
    times_ms: Sequence[float] = (),
    *,
    parts_ms: Mapping[str, float] | None = None,
    offers: Sequence[Any] = (),
    source: str = "",
    findings: Sequence[Finding] = (),
    stored: bool = False,
    batch_size: int | None = 32,
    settings: Mapping[str, Any] | None = None,
    waited: float | None = None,
    processor_ms: Sequence[float] = (),
    **run: Any,
) -> Side:
    """Return a run with these clean steps; ``stored``: as a JSON report has it."""
    begin, steps = 0, []
    for number, time in enumerate(times_ms, 1):
        end = begin + round(time * 1e6)
        steps.append(Step(number, begin, end, 1, 0, "clean"))
        begin = end
    mean = sum(times_ms) / len(times_ms) if times_ms else None
    account = StepAccount(steps=len(steps), mean_ms=mean or 0, ordinary_ms=mean or 0, parts_ms=dict(parts_ms or {}))  # type: ignore[arg-type]
    evidence = evidence_of(
        steps=StepTable(steps=tuple(steps), source="custom", batch_size=batch_size or 0),
        account=account,
        offers={"made": offers},
        sources={FILE: source} if source else {},
        settings=settings,
    )
    info = msgspec.structs.replace(evidence.run, **{"folder": FOLDER, "versions": {"tensorflow": "2.21.0"}, **run})
    report = Report(
        schema=REPORT_SCHEMA,
        run=info,
        probes=(),
        steps=StepSummary(
            count=len(steps),
            source="custom",
            clean=len(steps),
            median_ms=sorted(times_ms)[len(times_ms) // 2] if times_ms else None,
            mean_ms=mean,
            p90_ms=mean,
            batch_size=batch_size,
            account=account,
        ),
        findings=tuple(findings),
        overhead=Overhead(waited_share=waited),
    )
    return Side(name, report, None if stored else evidence, processor_ms=processor_ms)
