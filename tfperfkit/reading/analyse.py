"""From trace files to what they tell."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tfperfkit.diagnosis.rules import ask_about
from tfperfkit.offers.recorded_trace import (
    SCHEMA,
    UNKNOWN,
    DeviceRow,
    Doing,
    HostRow,
    OperationRow,
    StepFacts,
    TraceReport,
)
from tfperfkit.reading import host, idle, rows, steps
from tfperfkit.reading import hosts as of_hosts
from tfperfkit.reading.activity import Activity
from tfperfkit.reading.collectives import collective_rows
from tfperfkit.reading.headline import headline
from tfperfkit.reading.host import HostActivity
from tfperfkit.reading.machine import machine_of
from tfperfkit.reading.numbers import LAUNCH_PS, USED_DEVICE
from tfperfkit.reading.planes import Progress
from tfperfkit.reading.recorded import Recorded, open_file
from tfperfkit.reading.recorded import read as read_files
from tfperfkit.reading.sources import Source
from tfperfkit.records.plural import plural
from tfperfkit.xplane.intervals import Spans, covered, union, within

PS_PER_MS = rows.PS_PER_MS
_OPERATIONS = 50
#: Collectives that are kept; findings look at all of them.
_COLLECTIVES = 200
#: Devices that a note names.
_NAMED = 8


def read(source: Source, path: str, progress: Callable[[Path], Progress]) -> TraceReport:
    """Read all files of a run. Raises ``Unavailable`` or UsageError, one line, for what is no trace."""
    recorded = read_files(source, progress)
    hosts, devices = recorded.hosts, recorded.devices
    found = steps.find(hosts, devices)
    report = _with_devices(source, found, recorded) if devices else _host_only(found, hosts)
    notes = list(recorded.notes)
    if source.others:
        notes.append(f"{plural(len(source.others), 'other run')} in the same folder: {', '.join(source.others[:5])}")
    if found.source.startswith("repeated"):
        notes.append("the steps are guessed: mark them with tf.profiler.experimental.Trace(name, step_num=i, _r=1)")
    report = msgspec.structs.replace(
        report,
        schema=SCHEMA,
        kind=source.kind,
        path=path,
        run=source.run,
        files=tuple(file.name for file in source.files),
        events=sum(each.events for each in hosts) + sum(len(device.begin) for device in devices),
        steps=_facts(found),
        notes=(*notes, *report.notes),
        left_out=recorded.left_out,
    )
    told, troubles = ask_about(report)
    report = msgspec.structs.replace(
        report,
        findings=tuple(sorted(told, key=lambda finding: -finding.share_of_step)),
        notes=(*report.notes, *troubles),
    )
    return msgspec.structs.replace(report, headline=headline(report), collectives=report.collectives[:_COLLECTIVES])


def _with_devices(source: Source, found: steps.Steps, recorded: Recorded) -> TraceReport:
    devices = recorded.devices
    by_host = {each.host: each for each in recorded.hosts}
    busiest = max(device.busy().total for device in devices)
    table: list[DeviceRow] = []
    waiting: dict[str, list[Spans]] = {}
    for device in devices:
        used = device.busy().total >= USED_DEVICE.value * busiest
        window = idle.window_of(device, found.find_steps(device))
        explained = idle.explain(device, by_host.get(device.host), window)
        table.append(_device_row(device, explained, used))
        if used:
            waiting.setdefault(device.host, []).append(explained.of_host)
    machine = machine_of(max(devices, key=lambda device: device.busy().total).stats)
    used_rows = [row for row in table if row.used and row.window_ms > 0]
    notes = []
    unused = [f"{row.host} {row.device}".strip() for row in table if not row.used]
    if unused:
        verb = "is" if len(unused) == 1 else "are"
        more = f" and {len(unused) - _NAMED} more" * (len(unused) > _NAMED)
        notes.append(
            f"{', '.join(unused[:_NAMED])}{more} did a negligible amount of work and {verb} left out of the means"
        )
    looked_at, threads = _starving(source, recorded.file_of, waiting)
    return TraceReport(
        schema=SCHEMA,
        kind="",
        path="",
        run="",
        files=(),
        events=0,
        steps=_facts(found),
        idle_share=sum(row.idle_ms for row in used_rows) / (of_hosts.window(used_rows) or 1.0),
        waits_share=of_hosts.waits(used_rows),
        machine=machine,
        devices=tuple(table),
        kernels=rows.kernel_rows(devices, machine),
        scopes=rows.scope_rows(devices),
        operations=rows.operation_rows(devices),
        lines=rows.line_rows(devices),
        copies=rows.copy_rows(devices),
        collectives=collective_rows(devices, found),
        hosts=of_hosts.facts(recorded.hosts, found, table),
        host=threads,
        host_looked_at=looked_at,
        notes=tuple(notes),
    )


def _device_row(device: Activity, found: idle.Idle, used: bool) -> DeviceRow:
    copies = device.mask([label.is_copy for label in device.labels])
    kernels = device.busy(~copies)
    collectives = device.mask([label.is_collective for label in device.labels])
    computing = device.busy(~copies & ~collectives)
    return DeviceRow(
        device=device.short_name,
        host=device.host,
        window_ms=found.window.total / PS_PER_MS,
        busy_ms=found.busy_ps / PS_PER_MS,
        idle_ms=found.idle_ps / PS_PER_MS,
        waits_ms={cause: ps / PS_PER_MS for cause, ps in found.causes_ps.items()},
        only_copies_ms=_uncovered_ms(device.busy(copies), kernels, found.window),
        only_collectives_ms=_uncovered_ms(device.busy(collectives), computing, found.window),
        kernels=int((~copies).sum()),
        short_kernels=int((~copies & (device.end - device.begin <= LAUNCH_PS.value)).sum()),
        copies=int(copies.sum()),
        span_ms=(int(device.end.max()) - int(device.begin[0])) / PS_PER_MS,
        span_busy_ms=device.busy().total / PS_PER_MS,
        used=used,
    )


def _uncovered_ms(spans: Spans, by: Spans, window: Spans) -> float:
    inside = within(spans, window)
    return (inside.total - int(covered(by, inside.begin, inside.end).sum())) / PS_PER_MS


def _starving(
    source: Source, file_of: dict[str, Path], waiting: dict[str, list[Spans]]
) -> tuple[str, tuple[HostRow, ...]]:
    """Look again at the threads of the host whose accelerators waited for it longest."""
    idle_of = {host: union(spans) for host, spans in waiting.items()}
    name = max(idle_of, key=lambda host: idle_of[host].total, default=None)
    if name is None or not len(idle_of[name]):
        return "", ()
    file, several = file_of[name], len(file_of) > 1
    with open_file(source, file, lambda _: None) as traces:
        for trace in traces:
            if len(traces) == 1 or trace.host == name:
                return name if several else "", idle.host_frames(trace, idle_of[name], idle_of[name].total)
    return "", ()


def _host_only(found: steps.Steps, hosts: Sequence[HostActivity]) -> TraceReport:
    """Analyse a trace without accelerators: operations of the host by their own time, and what its threads were at."""
    totals: dict[str, list[int]] = {}
    for each in hosts:
        for name, (count, own) in each.own_ps.items():
            entry = totals.setdefault(name, [0, 0])
            entry[0] += count
            entry[1] += own
    chosen = sorted(totals.items(), key=lambda item: -item[1][1])
    operations = tuple(
        OperationRow(name=name, runs=count, own_ms=own / PS_PER_MS)
        for name, (count, own) in chosen
        if own > 0 and host.is_work(name)
    )
    each_host = [of_hosts.doing(each, found) for each in hosts if each.events]
    share = {
        name: statistics.fmean(shares.get(name, 0.0) for shares in each_host)
        for name in (*(doing.value for doing in Doing), UNKNOWN)
        if any(name in shares for shares in each_host)
    }
    notes = ("no accelerator is in the trace: the times are those of operations on the host's processors",)
    return TraceReport(
        schema=SCHEMA,
        kind="",
        path="",
        run="",
        files=(),
        events=0,
        steps=_facts(found),
        host_operations=operations[:_OPERATIONS],
        host_share=share,
        hosts=of_hosts.facts(hosts, found, ()),
        notes=notes,
    )


def _facts(found: steps.Steps) -> StepFacts:
    lengths = [length / PS_PER_MS for length in found.lengths]
    if not lengths:
        return StepFacts(count=0, source=found.source, words=found.words)
    ordered = sorted(lengths)
    return StepFacts(
        count=len(lengths),
        source=found.source,
        words=found.words,
        median_ms=statistics.median(lengths),
        mean_ms=statistics.fmean(lengths),
        p90_ms=ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))],
        lengths_ms=tuple(lengths[:10_000]),
    )
