"""The parts of a training by several processes, and what only all of them together show."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from tfperfkit.analysis.analyze import analyze
from tfperfkit.errors import RunDirectoryError, UsageError
from tfperfkit.model import Finding, Report
from tfperfkit.storage.run_directory import RunDirectory

_PREFIXES = ("rank-", "evaluator-")
#: More parts than this are not read.
_MAX_PARTS = 10_000
#: The late rank is named when it is so much less of its step in the exchange than the middle one is.
_MIN_LATE = 0.1
#: Steps whose means differ by more than this factor are not one exchange's.
_SAME_STEP = 1.2
#: Of the wait, for a finding to be its cause.
_MIN_CAUSE = 0.5


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A rank. ``problem``: why there is no report of it. ``inside_ms``: of a step, in compiled code and
    communication; None: not known."""

    name: str
    rank: int | None = None
    size: int | None = None
    role: str = ""
    status: str = ""
    steps: int = 0
    step_ms: float | None = None
    examples_per_s: float | None = None
    inside_ms: float | None = None
    findings: tuple[Finding, ...] = ()
    problem: str = ""

    @property
    def label(self) -> str:
        """``rank 3``"""
        kind, _, number = self.name.partition("-")
        return f"{kind} {int(number)}" if number.isdecimal() else self.name


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """All of them. ``missing``: ranks without a part; ``died``: those that did not finish; ``late``: for whom the
    others wait, None where that can't be told."""

    schema: int
    parts: tuple[Part, ...]
    size: int
    missing: tuple[int, ...] = ()
    died: tuple[str, ...] = ()
    examples_per_s: float | None = None
    late: str | None = None
    wait_ms: float = 0.0  # of a step, of the middle rank
    why: str = ""
    notes: tuple[str, ...] = ()


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if e.name.startswith(_PREFIXES) and e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def read(folder: Path) -> Whole:
    """Read all parts; a damaged one is a row with its reason. Raises UsageError if there are too many."""
    names = _names(folder)
    if len(names) > _MAX_PARTS:
        raise UsageError(f"{folder} holds more than {_MAX_PARTS} parts")
    parts = tuple(_part(folder, name) for name in names)
    workers = [part for part in parts if part.role != "evaluator"]
    sizes = {part.size for part in workers if part.size}
    size = max([*sizes, len(workers)])
    there = {part.rank for part in workers}
    speeds = [part.examples_per_s for part in workers if part.examples_per_s is not None]
    late, wait, why = _late(workers)
    notes = []
    if len(sizes) > 1:
        notes.append(f"the ranks disagree about how many there are: {', '.join(map(str, sorted(filter(None, sizes))))}")
    return Whole(
        schema=1,
        parts=parts,
        size=size,
        missing=tuple(rank for rank in range(min(size, _MAX_PARTS)) if rank not in there),
        died=tuple(part.label for part in parts if part.problem or part.status not in ("finished", "running")),
        examples_per_s=sum(speeds) if speeds and len(speeds) == len(workers) else None,
        late=late,
        wait_ms=wait,
        why=why,
        notes=tuple(notes),
    )


def _part(folder: Path, name: str) -> Part:
    try:
        _, manifest = RunDirectory.open(folder / name)
        report = analyze(folder / name)
    except RunDirectoryError as error:
        digits = name.rpartition("-")[2]
        return Part(name=name, rank=int(digits) if digits.isdecimal() else None, problem=str(error))
    rank = manifest.rank
    return Part(
        name=name,
        rank=rank.rank if rank is not None else None,
        size=rank.size if rank is not None else None,
        role=rank.role if rank is not None else "",
        status=report.run.status,
        steps=report.steps.count,
        step_ms=report.steps.mean_ms,
        examples_per_s=report.steps.examples_per_s,
        inside_ms=_inside(report),
        findings=tuple(finding for finding in report.findings if finding.severity != "info"),
    )


def _inside(report: Report) -> float | None:
    account = report.steps.account
    return account.parts_ms.get("graph", 0.0) + account.parts_ms.get("collectives", 0.0) if account else None


def _late(parts: list[Part]) -> tuple[str | None, float, str]:
    """In synchronous training all steps take as long, and who waits does so inside of the exchange, in compiled code.

    So the rank that spends least there came last, and the middle one waited for the difference. Nobody is named where
    steps differ from rank to rank or the difference is small; no cause where its first finding is no half of the wait.
    """
    known = [(part.inside_ms, part.step_ms, part) for part in parts if part.inside_ms is not None and part.step_ms]
    if len(known) < 2 or len(known) < len(parts):
        return None, 0.0, ""
    steps = [step for _, step, _ in known]
    if max(steps) > _SAME_STEP * min(steps):
        return None, 0.0, ""
    known.sort(key=lambda each: each[0])
    (least, step, last), (middle, _, _) = known[0], known[len(known) // 2]
    wait = middle - least
    if wait < _MIN_LATE * step:
        return None, 0.0, ""
    first = last.findings[0] if last.findings else None
    if first is None or first.share_of_step * step < _MIN_CAUSE * wait:
        return last.label, wait, "none of its findings explains most of that"
    where = f" ({Path(first.where[0].file).name}:{first.where[0].line})" if first.where else ""
    return last.label, wait, f"{first.title}{where}  {first.code}"
