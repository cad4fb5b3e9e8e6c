"""Why one run is slower: parts of the step, lines, operations, traces, calls, memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from tfperfkit.analysis.counts import OWNERS, eager_per_step, graph_operations, reads_per_step
from tfperfkit.comparing.result import Cause, CauseKind
from tfperfkit.comparing.setups import line_map
from tfperfkit.comparing.side import Side
from tfperfkit.model import SourceSpan, Unit
from tfperfkit.offers import LineCosts, MemoryUse, RanOperations, TraceCounts
from tfperfkit.records.parts import words_of

#: Minimum shares: less of the step is not reported for a line or an operation; less of the steps' difference is not
#: reported either.
_MIN_STEP, _MIN_DIFFERENCE = 0.02, 0.10
#: Windows measure a few steps only: what changed by less than this share of itself is no news.
_MIN_CHANGE = 0.20
_MAX = 8
#: Shares of the largest difference of a line: a new line is named from the first share on, an old one from the second.
_SOME, _MAX_OF_IT = 0.3, 0.7


def timed_causes(a: Side, b: Side) -> tuple[Cause, ...]:
    """Return the parts whose time has changed, the largest difference first within each kind.

    From windows of a few steps each, so for a difference that the steps themselves show.
    """
    step = max(a.report.steps.mean_ms or 0.0, b.report.steps.mean_ms or 0.0)
    difference = abs((b.report.steps.mean_ms or 0.0) - (a.report.steps.mean_ms or 0.0))
    floor = max(_MIN_STEP * step, _MIN_DIFFERENCE * difference)
    kinds = (_compare_parts(a, b), _compare_lines(a, b), _operations(a, b))
    return tuple(cause for kind in kinds for cause in _largest(kind, floor))


def counted_causes(a: Side, b: Side) -> tuple[Cause, ...]:
    """Figures that do not depend on the machine: traces, operations, values read; and memory."""
    return (*_traces(a, b), *_calls(a, b), *_memory(a, b))


def culprit(causes: Iterable[Cause], slower: bool) -> Cause | None:
    """Return the line that most of the difference lies in.

    A line has what all lines that it calls have: a new or a gone line is named before one that was there, and of those
    that were there the innermost, which takes least in all.
    """
    lines = [each for each in causes if each.kind == "line" and (each.difference > 0) == slower]
    largest = max((abs(each.difference) for each in lines), default=0.0)
    changed = [each for each in lines if each.change and abs(each.difference) >= _SOME * largest]
    if changed:
        return max(changed, key=lambda each: abs(each.difference))
    near = [each for each in lines if abs(each.difference) >= _MAX_OF_IT * largest]
    return min(near, key=lambda each: max(each.a, each.b), default=None)


def _largest(causes: Iterable[Cause], floor: float) -> list[Cause]:
    kept = [
        each
        for each in causes
        if abs(each.difference) >= max(floor, _MIN_CHANGE * max(each.a, each.b)) and each.difference
    ]
    return sorted(kept, key=lambda each: -abs(each.difference))[:_MAX]


def _compare_parts(a: Side, b: Side) -> Iterator[Cause]:
    """Yield the parts of the step with what they take in both runs."""
    accounts = (a.report.steps.account, b.report.steps.account)
    if accounts[0] is None or accounts[1] is None:
        return
    for part in dict.fromkeys((*accounts[0].parts_ms, *accounts[1].parts_ms)):
        one, two = (account.parts_ms.get(part, 0.0) for account in accounts if account is not None)
        words = words_of(part)
        yield Cause(kind="part", name=words.label if words is not None else part, a=one, b=two, unit="ms")
    yield Cause(
        kind="part", name="between steps", a=accounts[0].between_total_ms, b=accounts[1].between_total_ms, unit="ms"
    )


def _compare_lines(a: Side, b: Side) -> Iterator[Cause]:
    """Yield the lines with what they take in both runs."""
    costs = tuple(side.evidence.offer(LineCosts) if side.evidence is not None else None for side in (a, b))
    if costs[0] is None or costs[1] is None:
        return
    before: dict[tuple[str, int, bool], float] = {}
    functions: dict[tuple[str, int, bool], str] = {}
    for row in costs[0].rows:
        key = (a.relative(row.file), row.line, row.compiled)
        before[key] = before.get(key, 0.0) + row.ms_per_step
        functions[key] = row.function
    there = line_map(a, b)
    after: dict[tuple[str, int, bool], float] = defaultdict(float)
    names: dict[tuple[str, int, bool], tuple[str, str]] = {}
    for row in costs[1].rows:
        key = (b.relative(row.file), row.line, row.compiled)
        after[key] += row.ms_per_step
        names[key] = (row.file, row.function)
    seen = set()
    for key, now in after.items():
        file, line, compiled = key
        old = there.get((file, line))
        was = (*old, compiled) if old is not None else None
        if old is not None and was not in before and (file, line, not compiled) not in after:
            was = (*old, not compiled)  # the function has been compiled since, or is no longer
        seen.add(was)
        where = SourceSpan(names[key][0], line, names[key][1])
        text = _line_text(b, names[key][0], line)
        change: Any = "" if was is not None else "new"
        yield Cause(
            kind="line",
            name=f"{file}:{line}",
            a=before.get(was, 0.0) if was is not None else 0.0,
            b=now,
            unit="ms",
            where=where,
            source=text,
            change=change,
        )
    back = {old: new for new, old in there.items()}
    for key, ms in before.items():
        if key in seen:
            continue
        file, line, _ = key
        moved = back.get((file, line))
        side = a if moved is None else b
        file, line = moved or (file, line)
        files = side.evidence.files() if side.evidence is not None else ()
        path = next((known for known in files if side.relative(known) == file), file)
        yield Cause(
            kind="line",
            name=f"{file}:{line}",
            a=ms,
            b=0.0,
            unit="ms",
            where=SourceSpan(path, line, functions[key]),
            source=_line_text(side, path, line),
            change="gone" if moved is None else "",
        )


def _line_text(side: Side, file: str, line: int) -> str:
    """Return a line of the source."""
    return side.evidence.line(file, line) if side.evidence is not None else ""


def _operations(a: Side, b: Side) -> Iterator[Cause]:
    """By type: names of single operations carry numbers that change with anything built before them."""
    costs = [_by_type(side) for side in (a, b)]
    if costs[0] is None or costs[1] is None:
        return
    for name in dict.fromkeys((*costs[0], *costs[1])):
        one, two = costs[0].get(name), costs[1].get(name)
        change: Any = "new" if one is None else "gone" if two is None else ""
        yield Cause(kind="operation", name=name, a=one or 0.0, b=two or 0.0, unit="ms", change=change)


def _by_type(side: Side) -> dict[str, float] | None:
    ran = side.evidence.offer(RanOperations) if side.evidence is not None else None
    if ran is None or ran.steps < 1:
        return None
    found: dict[str, float] = defaultdict(float)
    for row in ran.rows:
        found[row.type] += row.self_ms / ran.steps
    return found


def _traces(a: Side, b: Side) -> Iterator[Cause]:
    counts = [side.evidence.offer(TraceCounts) if side.evidence is not None else None for side in (a, b)]
    if counts[0] is None or counts[1] is None:
        return
    rows: list[dict[tuple[str, str], Any]] = [{}, {}]
    for index, side in enumerate((a, b)):
        for row in counts[index].functions:  # type: ignore[union-attr]
            if row.owner in OWNERS:
                rows[index][side.relative(row.file), row.function] = row
    for key in dict.fromkeys((*rows[0], *rows[1])):
        one, two = rows[0].get(key), rows[1].get(key)
        traces = tuple(float(row.traces) if row is not None else 0.0 for row in (one, two))
        if traces[0] != traces[1]:
            there: Any = two or one
            change: Any = "new" if one is None else "gone" if two is None else ""
            span = SourceSpan(there.file, there.line, there.function)
            name = f"traces of {key[1]}"
            yield Cause(kind="traces", name=name, a=traces[0], b=traces[1], unit="count", where=span, change=change)


def _calls(a: Side, b: Side) -> Iterator[Cause]:
    for name, count in (
        ("operations called one by one, a step", eager_per_step),
        ("values read back, a step", reads_per_step),
        ("operations in compiled functions", graph_operations),
    ):
        one, two = (count(side.evidence) if side.evidence is not None else None for side in (a, b))
        if one is not None and two is not None and round(one, 1) != round(two, 1):
            yield _counted("calls", name, round(one, 1), round(two, 1))


def _memory(a: Side, b: Side) -> Iterator[Cause]:
    uses = [side.evidence.offer(MemoryUse) if side.evidence is not None else None for side in (a, b)]
    if uses[0] is None or uses[1] is None:
        return
    one, two = uses[0].peak_bytes, uses[1].peak_bytes
    if abs(two - one) >= 0.1 * max(one, two):
        yield _counted("memory", "peak memory", one, two, "bytes")
    growth = [use.growth_bytes_per_step for use in uses if use is not None]
    if None not in growth and growth[0] != growth[1]:
        yield _counted("memory", "growth of memory, a step", growth[0] or 0.0, growth[1] or 0.0, "bytes")


def _counted(kind: CauseKind, name: str, a: float, b: float, unit: Unit = "count") -> Cause:
    return Cause(kind=kind, name=name, a=a, b=b, unit=unit)
