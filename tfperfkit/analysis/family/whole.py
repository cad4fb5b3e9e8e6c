"""All children of a run: listed, grouped by their purpose, and compared with the steps that ran meanwhile."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tfperfkit.analysis.family.moments import inside, top
from tfperfkit.analysis.family.part import Read, read_part, read_rest
from tfperfkit.clock import NS_PER_MS, NS_PER_S
from tfperfkit.errors import RunDirectoryError
from tfperfkit.model import Report
from tfperfkit.records.children import CHILDREN, PART, POOL, REST, Child, ChildGroup, Children, ChildrenInSteps, End
from tfperfkit.records.steps import StepTable
from tfperfkit.storage import safe_reader
from tfperfkit.storage.run_directory import Manifest, RunDirectory

#: More parts than a recording makes, and rows of sums.
_MAX_PARTS, _MAX_ROWS = 64, 20_000
#: Children without a part that are listed one by one.
_LISTED = 100
#: Maximum number of children that train for which a report is made.
_REPORTED = 16
#: multiprocessing's own functions, which call the user's.
_WORKERS = ("multiprocessing.", "concurrent.futures.")


def children(
    run: RunDirectory,
    manifest: Manifest,
    steps: StepTable,
    over: bool,
    report_of: Callable[[Path], Report],
) -> Children | None:
    """``over``: the run has ended. ``report_of`` makes the report of a child that trains; it may raise
    RunDirectoryError. None where children were not recorded, or there was none."""
    if not manifest.children:
        return None
    below = run.path / CHILDREN
    names = sorted(name for name in safe_reader.names(run.path, CHILDREN) if name.startswith(PART))
    names = [name for name in names if not (below / name).is_symlink()][:_MAX_PARTS]
    started = manifest.started_ns
    found = [each for each in (read_part(run.path, name, started, over) for name in names) if each is not None]
    too_much: list[str] = []
    rows = safe_reader.read_stream(run.path, f"{CHILDREN}/{REST}", too_much.append)
    rest = read_rest(list(itertools.islice(rows, _MAX_ROWS)), started, over)
    # One that trains may have taken a part after it had begun as one of the others.
    parts = {each.child.pid: each for each in found}
    rest = [each for each in rest if each.child.pid not in parts]
    found = [_with_parent(each, parts) for each in found]
    found = _with_reports(found, run.path, report_of)
    everyone = sorted([*found, *rest], key=lambda each: each.child.began_s)
    if not everyone:
        return None
    listed = sorted([*found, *rest[:_LISTED]], key=lambda each: each.child.began_s)
    return Children(
        count=len(everyone),
        groups=_groups(everyone),
        processes=tuple(each.child for each in listed),
        in_steps=_in_steps(found, steps),
        cut=bool(too_much) or len(rest) >= _MAX_ROWS,
    )


def _with_parent(each: Read, parts: dict[int, Read]) -> Read:
    parent = parts.get(each.child.parent_pid)
    if parent is None:
        return each
    return msgspec.structs.replace(each, child=msgspec.structs.replace(each.child, parent=parent.child.part))


def _with_reports(found: Sequence[Read], root: Path, report_of: Callable[[Path], Report]) -> list[Read]:
    reported: list[Read] = []
    left = _REPORTED
    for each in found:
        if each.child.trains and left:
            left -= 1
            try:
                report = report_of(root / each.child.part)
            except RunDirectoryError:
                reported.append(each)
                continue
            first = next((finding.code for finding in report.findings if finding.severity != "info"), "")
            child = msgspec.structs.replace(
                each.child,
                steps=report.steps.count,
                step_ms=report.steps.median_ms,
                finding=first,
                headline=report.headline,
            )
            each = msgspec.structs.replace(each, child=child)
        reported.append(each)
    return reported


def _groups(everyone: Sequence[Read]) -> tuple[ChildGroup, ...]:
    kinds: defaultdict[tuple[str, str], list[Read]] = defaultdict(list)
    for each in everyone:
        kinds[each.child.method, each.child.target or each.child.command].append(each)
    groups = [_group(members) for members in kinds.values()]
    return tuple(sorted(groups, key=lambda group: -group.cpu_s))


def _group(members: Sequence[Read]) -> ChildGroup:
    first = members[0].child
    functions = Counter[str]()
    for each in members:
        if each.function:
            functions[each.function] += round(each.child.busy_s * 1e6) + 1
    seen = functions.most_common(1)[0][0] if functions else ""
    ended = Counter[End](each.child.ended for each in members)
    lines = [
        ((line.where.file, line.where.line, line.where.function), round(line.seconds * 1e9))
        for each in members
        for line in each.child.lines
    ]
    return ChildGroup(
        label=_label(first, seen),
        method=first.method,
        count=len(members),
        wall_s=sum(each.child.wall_s for each in members),
        cpu_s=sum(each.child.cpu_s for each in members),
        busy_s=sum(each.child.busy_s for each in members),
        lines=top(lines),
        ended=dict(ended),
    )


def _label(child: Child, seen: str) -> str:
    module, _, name = child.target.partition(":")
    if f"{module}.".startswith(_WORKERS):
        return f"{POOL}: {seen}" if seen else POOL
    return name or child.command or seen or "fork"


def _in_steps(found: Sequence[Read], steps: StepTable) -> ChildrenInSteps | None:
    """Only those with a part: of the others it is not known when they were at work."""
    clean = [(step.begin_ns, step.end_ns) for step in steps.clean]
    if not clean:
        return None
    spent = [inside(each.done, clean) for each in found]
    at_work = [lines for lines in spent if lines]
    total = sum(ns for lines in at_work for _, ns in lines)
    if not total:
        return None
    return ChildrenInSteps(
        processes=len(at_work),
        busy_ms=total / NS_PER_MS / len(clean),
        busy_s=total / NS_PER_S,
        lines=top(line for lines in at_work for line in lines),
    )
