"""Facts of a trace, on a terminal or in a pipe: in the report's own shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO

from rich.text import Text

from tfperfkit.model import Column, Table, Unit, make_columns
from tfperfkit.offers.recorded_trace import DeviceRow, TimeRow, TraceReport
from tfperfkit.reading.idle import CAUSES
from tfperfkit.report import numbers
from tfperfkit.report.console import print_lines
from tfperfkit.report.findings import reported_findings
from tfperfkit.report.layout import heading, joined, prose
from tfperfkit.report.paths import name
from tfperfkit.report.table import table_lines
from tfperfkit.report.terminal import Screen, terminal_of
from tfperfkit.report.text import shorten

_ROWS = 12
_LABELLED = 10
_KERNEL = 40  # characters of a kernel's name
#: Files that can't be read are named up to this number.
_LEFT_OUT = 3
_MIN_SHOWN = 0.001
_MIN_COLUMN = 0.01  # of a device's window, for a cause to have a column


def render(report: TraceReport, file: TextIO, *, everything: bool = False) -> None:
    """Write the report to ``file``; ``everything``: all rows that there are."""
    screen = terminal_of(file)
    print_lines(lines(report, screen, None if everything else _ROWS), file, screen)


def lines(report: TraceReport, screen: Screen, limit: int | None) -> list[Text]:
    """Return the report as lines of at most ``screen.width`` cells."""
    sections = [_top(report, screen), reported_findings(report.findings, screen)]
    tables = [table for table in _tables(report, limit) if table is not None]
    for title, mine in _grouped(tables):
        section = heading(title, "", screen)
        for index, table in enumerate(mine):
            section += [Text()] * bool(index) + table_lines(table, screen)
        sections.append(section)
    sections.append([*heading("trace", "", screen), *_bottom(report, screen)])
    result: list[Text] = []
    for section in filter(None, sections):
        result += [*section, Text()]
    return result[:-1]


def _top(report: TraceReport, screen: Screen) -> list[Text]:
    steps = report.steps
    if steps.count and steps.median_ms is not None:
        parts = [f"{numbers.plain(steps.count)} step{'s' * (steps.count != 1)}"]
        text = f"{numbers.alone(steps.median_ms, 'ms', screen.symbols)} a step"
        if steps.count > 1 and steps.p90_ms is not None:
            text += f" (p90 {numbers.alone(steps.p90_ms, 'ms', screen.symbols)})"
        figures = [*parts, text]
    else:
        figures = ["No steps were found"] * (report.kind != "horovod")
    if report.idle_share is not None:
        figures.append(f"accelerators idle {numbers.alone(report.idle_share, 'share', screen.symbols)}")
    result = []
    if report.left_out:
        result += prose(f"{len(report.left_out)} of {len(report.files)} files can't be read", screen, style="bold")
        result += [line for error in report.left_out[:_LEFT_OUT] for line in prose(error, screen, indent=2)]
        result += [Text(f"  and {len(report.left_out) - _LEFT_OUT} more")] * (len(report.left_out) > _LEFT_OUT)
    result += prose(report.headline, screen, style="bold")
    result += joined(figures, screen, style="" if report.headline else "bold")
    if report.waits_share:
        waits = [
            _with_share(cause, share, screen) for cause, share in report.waits_share.items() if share >= _MIN_SHOWN
        ]
        result += joined(["idle: " + waits[0], *waits[1:]], screen) if waits else []
    if report.host_share:
        shares = [
            f"{what} {numbers.alone(share, 'share', screen.symbols)}" for what, share in report.host_share.items()
        ]
        result += joined(["some thread of the host was at: " + shares[0], *shares[1:]], screen)
    return result + prose(steps.words, screen, style="dim")


def _grouped(tables: list[tuple[str, Table]]) -> list[tuple[str, list[Table]]]:
    groups: dict[str, list[Table]] = {}
    for title, table in tables:
        groups.setdefault(title, []).append(table)
    return list(groups.items())


def _tables(report: TraceReport, limit: int | None) -> list[tuple[str, Table] | None]:
    return [
        _hosts(report, limit),
        _devices(report, limit),
        _kernels(report, limit),
        _times("operations", "Kernels by type of operation", "Operation", report.operations, limit),
        _times("operations", "Kernels by name scope, each without those below it", "Scope", report.scopes, limit),
        _times("operations", "Kernels by line of Python", "Line", report.lines, limit, "location"),
        _copies(report),
        _collectives(report, limit),
        _host(report, limit),
        _host_operations(report, limit),
    ]


def _hosts(report: TraceReport, limit: int | None) -> tuple[str, Table] | None:
    """Several hosts side by side."""
    if not report.hosts:
        return None
    shares = [row.waits_share or row.doing_share for row in report.hosts]
    order = [*CAUSES, *(cause for each in shares for cause in each if cause not in CAUSES)]
    causes = [cause for cause in order if any(each.get(cause, 0.0) >= _MIN_COLUMN for each in shares)]
    busy = any(row.idle_share is not None for row in report.hosts)
    columns = [
        Column("Host"),
        *([Column("Devices", "count")] * busy),
        Column("Steps", "count"),
        Column("Step ms", "ms"),
    ]
    columns += [Column("Idle", "share")] * busy + [Column(c[:1].upper() + c[1:], "share") for c in causes]
    rows = []
    for row, each in list(zip(report.hosts, shares, strict=True))[:limit]:
        cells: list[str | int | float | None] = [row.host, *([row.devices] * busy), row.steps, row.median_ms]
        rows.append((*cells, *([row.idle_share] * busy), *(each.get(cause, 0.0) for cause in causes)))
    words = "its accelerators waited for" if busy else "some thread of it was at"
    return "hosts", Table(
        title=f"Each host: the median step, and what {words}",
        columns=tuple(columns),
        rows=tuple(rows),
        note=_say_hidden(report.hosts, limit),
    )


def _devices(report: TraceReport, limit: int | None) -> tuple[str, Table] | None:
    if not report.devices:
        return None
    used = [row for row in report.devices if row.used]
    causes = [c for c in CAUSES if any(row.waits_ms.get(c, 0.0) >= _MIN_COLUMN * row.window_ms for row in used)]
    columns = (
        Column("Device"),
        Column("Window ms", "ms"),
        Column("Busy", "share"),
        Column("Idle", "share"),
        *(Column(cause[:1].upper() + cause[1:], "share") for cause in causes),
        Column("Kernels", "count"),
    )
    rows = []
    shown: Sequence[DeviceRow] = report.devices
    if len(report.hosts) > 1 and limit is not None and len(shown) > limit:
        shown = sorted(shown, key=lambda row: (not row.used, -(_share_of(row.idle_ms, row.window_ms) or 0.0)))[:limit]
    for row in shown:
        rows.append(
            (
                _name_device(row),
                row.window_ms,
                *(_share_of(ms, row.window_ms) for ms in (row.busy_ms, row.idle_ms)),
                *(_share_of(row.waits_ms.get(cause, 0.0), row.window_ms) for cause in causes),
                row.kernels,
            )
        )
    words = "in the steps" if report.steps.count else "from the first kernel to the last"
    return "accelerators", Table(
        title=f"What each device did {words}, and what it waited for",
        columns=columns,
        rows=tuple(rows),
        note=f"the {len(shown)} that idle most of {len(report.devices)}: --all shows them"
        if len(shown) < len(report.devices)
        else "",
    )


def _kernels(report: TraceReport, limit: int | None) -> tuple[str, Table] | None:
    if not report.kernels:
        return None
    has_occupancy = any(row.occupancy is not None for row in report.kernels)
    has_source = any(row.source for row in report.kernels)
    columns = [Column("Kernel"), Column("Operation"), Column("Runs", "count"), Column("Total ms", "ms")]
    columns += [Column("Share", "share"), Column("Each µs", "us"), Column("Bound by"), Column("Tensor cores")]
    columns += [Column("Occupancy", "share")] * has_occupancy + [Column("Line", "location")] * has_source
    rows = []
    for row in report.kernels[:limit]:
        cells: list[str | int | float | None] = [
            short_kernel(row.kernel),
            row.operation or None,
            row.runs,
            row.total_ms,
        ]
        cells += [row.share, row.mean_us, row.bound or None, "yes" if row.tensor_cores else None]
        cells += [row.occupancy] * has_occupancy + [row.source or None] * has_source
        rows.append(tuple(cells))
    return "kernels", Table(
        title="Costliest kernels", columns=tuple(columns), rows=tuple(rows), note=_say_hidden(report.kernels, limit)
    )


def _times(
    section: str, title: str, what: str, found: Sequence[TimeRow], limit: int | None, unit: Unit = "text"
) -> tuple[str, Table] | None:
    if not found or (len(found) == 1 and unit == "text"):
        return None
    columns = (Column(what, unit), Column("Runs", "count"), Column("Total ms", "ms"), Column("Share", "share"))
    rows = tuple((row.name, row.runs, row.total_ms, row.share) for row in found[:limit])
    return section, Table(title=title, columns=columns, rows=rows, note=_say_hidden(found, limit))


def _copies(report: TraceReport) -> tuple[str, Table] | None:
    if not report.copies:
        return None
    tells_memory = any(row.pageable is not None for row in report.copies)
    columns = [Column("Copy"), Column("Runs", "count"), Column("Total ms", "ms"), Column("Size", "bytes")]
    columns += [Column("GB/s", "number"), Column("Synchronous", "count")] + [Column("Pageable", "count")] * tells_memory
    rows = []
    for row in report.copies:
        speed = row.bytes / row.total_ms / 1e6 if row.bytes and row.total_ms and not row.awaited else None
        cells: list[str | int | float | None] = [
            row.kind,
            row.runs,
            row.total_ms,
            row.bytes or None,
            speed,
            row.synchronous,
        ]
        rows.append((*cells, *[row.pageable] * tells_memory))
    return "copies", Table(title="Copies", columns=tuple(columns), rows=tuple(rows))


def _collectives(report: TraceReport, limit: int | None) -> tuple[str, Table] | None:
    if not report.collectives:
        return None
    ranks = report.kind == "horovod"
    columns = (
        Column("Tensor" if ranks else "Collective"),
        Column("Ranks" if ranks else "Devices", "count"),
        Column("Runs", "count"),
        Column("Total ms", "ms"),
        Column("Transfer ms", "ms"),
        Column("Wait ms", "ms"),
        *(() if ranks else (Column("Hidden ms", "ms"),)),
        Column("Last"),
        Column("In", "share"),
    )
    rows = tuple(
        (
            r.name,
            r.devices,
            r.runs,
            r.total_ms,
            r.transfer_ms,
            r.wait_ms,
            *(() if ranks else (r.hidden_ms,)),
            r.last or None,
            r.last_share if r.last else None,
        )
        for r in report.collectives[:limit]
    )
    note = (
        "wait: until the last rank was ready"
        if ranks
        else "wait: beyond the shortest run over the devices, which is the transfer; hidden: while a kernel computes"
    )
    if more := _say_hidden(report.collectives, limit):
        note = f"{note}; {more}"
    return "collectives", Table(title="Collectives", columns=columns, rows=rows, note=note)


def _host(report: TraceReport, limit: int | None) -> tuple[str, Table] | None:
    if not report.host:
        return None
    columns = make_columns("On a thread of the host", "Time ms: ms", "Share: share")
    rows = tuple((row.what, row.idle_ms, row.share) for row in report.host[:limit])
    whose = report.host_looked_at or "the host"
    return "host", Table(title=f"What {whose} was at while a device waited for it", columns=columns, rows=rows)


def _host_operations(report: TraceReport, limit: int | None) -> tuple[str, Table] | None:
    if not report.host_operations:
        return None
    columns = make_columns("Operation", "Runs: count", "Own time ms: ms")
    rows = tuple((row.name, row.runs, row.own_ms) for row in report.host_operations[:limit])
    return "host", Table(
        title="Costliest operations on the host",
        columns=columns,
        rows=rows,
        note=_say_hidden(report.host_operations, limit),
    )


def _bottom(report: TraceReport, screen: Screen) -> list[Text]:
    result: list[Text] = []
    for note in report.notes:
        result += prose(note, screen, indent=_LABELLED, label="note")
    machine = report.machine
    if machine is not None:
        items = [machine.vendor] * bool(machine.vendor)
        if machine.multiprocessors and machine.clock_mhz:
            items.append(f"{machine.multiprocessors} multiprocessors at {machine.clock_mhz:,.0f} MHz")
        items += [numbers.alone(machine.memory_bytes, "bytes")] * (machine.memory_bytes is not None)
        items += [f"{(machine.memory_bytes_per_s or 0) / 1e9:,.0f} GB/s"] * (machine.memory_bytes_per_s is not None)
        items += [f"{(machine.flops_per_s or 0) / 1e12:,.1f} TFLOP/s in 32 bits"] * (machine.flops_per_s is not None)
        items += [f"{(machine.tensor_flops_per_s or 0) / 1e12:,.0f} in 16"] * (machine.tensor_flops_per_s is not None)
        result += joined(items, screen, indent=_LABELLED, label="machine") if items else []
    files = f"{len(report.files)} files" if len(report.files) > 1 else report.files[0]
    items = [name(files, screen), f"{report.events:,} events"]
    if report.run not in ("", report.files[0]):
        items.insert(0, f"run {name(report.run, screen)}")
    return result + joined(items, screen, indent=_LABELLED, label="read")


def _name_device(row: DeviceRow) -> str:
    """Return the name of a device, with its host."""
    return f"{row.host} {row.device}".strip() + ("" if row.used else " (not used)")


def _share_of(part: float, whole: float) -> float | None:
    """Return a share; None of nothing."""
    return part / whole if whole > 0 else None


def _with_share(what: str, share: float, screen: Screen) -> str:
    """Return words with a share."""
    return f"{what} {numbers.alone(share, 'share', screen.symbols)}"


def short_kernel(text: str) -> str:
    """Return a kernel's name without what a C++ compiler put around it; the JSON has it whole."""
    text = text.removeprefix("void ")
    base = re.split(r"[<(]", text, maxsplit=1)[0] or text
    return shorten(base.rpartition("::")[2] or base, _KERNEL)


def _say_hidden(rows: Sequence[object], limit: int | None) -> str:
    """Return how many rows are not shown."""
    hidden = len(rows) - limit if limit is not None else 0
    return f"and {hidden} more: --all shows them" if hidden > 0 else ""
