"""The processes that the script started, where they were recorded, as a section of the report."""

from __future__ import annotations

import shlex

from tfperfkit.model import ProbeOutcome, Report, SourceSpan, Table, make_columns
from tfperfkit.records.children import POOL, Child, ChildGroup, Children, End
from tfperfkit.report import numbers
from tfperfkit.report.paths import short_path

_ROWS = 8
#: A step's input is compared with the work of children from this share of the step on, both of them.
_MIN_SHARE = 0.1
_ENDS: dict[End, str] = {"failed": "failed", "no goodbye": "killed, or left by os._exit", "running": "still running"}


def family(report: Report) -> ProbeOutcome | None:
    """Return the section; None if no children were recorded."""
    found = report.children
    if found is None:
        return None
    tables = [table for table in (_groups(found), _training(report, found)) if table.rows]
    return ProbeOutcome(
        name="children",
        status="ok",
        summary=_counted(found),
        tables=tuple(tables),
        notes=_notes(found),
    )


def beside_the_step(report: Report) -> str:
    """Return the work of children while a step waited for its input; "" if that work is negligible."""
    found = report.children.in_steps if report.children is not None else None
    account = report.steps.account
    if found is None or account is None or found.busy_ms < _MIN_SHARE * account.mean_ms:
        return ""
    who = f"{found.processes} child process{'es' * (found.processes != 1)}"
    largest = found.lines[0] if found.lines else None
    share = f" ({numbers.alone(largest.seconds / found.busy_s, 'share')})" if largest and found.busy_s else ""
    where = f", most in {_name_place(largest.where)}{share}" if largest else ""
    worked = f"{who} work for {numbers.alone(found.busy_ms, 'ms')}{where}"
    waited = account.parts_ms.get("input", 0.0)
    if waited < _MIN_SHARE * account.mean_ms:
        return f"while a step runs, {worked}"
    return f"a step waits {numbers.alone(waited, 'ms')} for its input; meanwhile {worked}"


def beside_the_run(report: Report) -> str:
    """Return the work of children for which the run waits; "" if it waits for less than a tenth of its time."""
    found, account = report.children, report.run_account
    waited = account.seconds_of("children") if account is not None else 0.0
    if found is None or account is None or waited < _MIN_SHARE * account.total_s or not waited:
        return ""
    line = next((line.where for line in account.lines.get("children", ())), None)
    at = f" at {_file(line)}:{line.line}" if line is not None else ""
    group = max(found.groups, key=lambda group: group.busy_s)
    largest = f", most of it in {_name_place(group.lines[0].where)}" if group.lines else ""
    busy = sum(each.busy_s for each in found.groups)
    together = f"{numbers.plain(found.count)} child process{'es' * (found.count != 1)}"
    return (
        f"the run waits {numbers.alone(waited, 's')}{at} for {together}, "
        f"which work for {numbers.alone(busy, 's')}{largest}"
    )


def _counted(found: Children) -> str:
    cpu = sum(group.cpu_s for group in found.groups)
    more = "more than " * found.cut
    plural = "es" * (found.count != 1)
    parts = [f"{more}{numbers.plain(found.count)} process{plural}, {numbers.alone(cpu, 's')} of processor time"]
    for how, words in _ENDS.items():
        # A pool ends its workers by a signal: nothing to be reported.
        count = sum(g.ended.get(how, 0) for g in found.groups if how != "no goodbye" or not g.label.startswith(POOL))
        if count:
            parts.append(f"{numbers.plain(count)} {words}")
    return "; ".join(parts)


def _groups(found: Children) -> Table:
    listed, left = found.groups[:_ROWS], len(found.groups) - _ROWS
    return Table(
        title="Children by purpose",
        columns=make_columns("what", "count: count", "wall s: number", "CPU s: number", "most in", "share: share"),
        rows=tuple(_group_row(group) for group in listed),
        note="sums over the processes; share: of the time in which lines of yours ran, waiting for others left out"
        + (f"; {left} more kinds are in the JSON report" if left > 0 else ""),
    )


def _group_row(group: ChildGroup) -> tuple[str | int | float | None, ...]:
    """Return the row of a group of child processes."""
    largest = group.lines[0] if group.lines else None
    where = _name_place(largest.where) if largest else ""
    share = min(largest.seconds / group.busy_s, 1.0) if largest and group.busy_s else None
    return (f"{group.label} ({group.method})", group.count, group.wall_s, group.cpu_s, where, share)


def _training(report: Report, found: Children) -> Table:
    training = [child for child in found.processes if child.trains]
    return Table(
        title="Those that train",
        columns=make_columns("what", "steps: count", "step: ms", "finding", "in full"),
        rows=tuple((*_trained(child), _command(report, child)) for child in training[:_ROWS]),
        note="; ".join(dict.fromkeys(child.headline for child in training[:_ROWS] if child.headline)),
    )


def _trained(child: Child) -> tuple[str | int | float | None, ...]:
    name = child.target.partition(":")[2] or child.command or child.process
    label = f"{name} ({child.process})" if child.process and name != child.process else name
    return (label, child.steps or None, child.step_ms, child.finding or None)


def _command(report: Report, child: Child) -> str:
    folder = f"{report.run.directory.rstrip('/')}/{child.part}"
    return f"tfperf report {shlex.quote(short_path(folder))}"


def _name_place(where: SourceSpan) -> str:
    """Return the file's name and the line."""
    name = f"{_file(where)}:{where.line}"
    return f"{where.function} ({name})" if where.function else name


def _file(where: SourceSpan) -> str:
    return where.file.replace(chr(92), "/").rpartition("/")[2]


def _notes(found: Children) -> tuple[str, ...]:
    whole = sum(bool(child.part) for child in found.processes)
    if whole == found.count:
        return ()
    return (f"{whole} of them were recorded in whole, of the others sums only.",)
