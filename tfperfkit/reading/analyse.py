"""From trace files to what they tell."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import numpy as np

from tfperfkit.errors import UsageError
from tfperfkit.reading import activity, chrome, findings, first_part, host, idle, rows, starving, steps
from tfperfkit.reading.activity import Activity
from tfperfkit.reading.host import Doing, HostActivity
from tfperfkit.reading.machine import machine_of
from tfperfkit.reading.model import SCHEMA, DeviceRow, HostRow, OperationRow, StepFacts, TraceReport
from tfperfkit.reading.numbers import USED_DEVICE
from tfperfkit.reading.planes import Progress, open_planes, share_of
from tfperfkit.reading.sources import Source
from tfperfkit.reading.tracks import HostTrace
from tfperfkit.records.plural import plural
from tfperfkit.xplane.columns import Ints
from tfperfkit.xplane.intervals import Spans, covered, union, within

PS_PER_MS = rows.PS_PER_MS
_OPERATIONS = 50


def read(source: Source, path: str, progress: Callable[[Path], Progress]) -> TraceReport:
    """Read all files of a run. Raises ``Unavailable`` or UsageError, one line, for what is no trace."""
    hosts: list[HostActivity] = []
    devices: list[Activity] = []
    notes: list[str] = []
    several = len(source.files) > 1
    for file in source.files:
        with _open(source, file, progress(file)) as trace:
            name = trace.host if several else ""
            modules = trace.modules()
            mine = [one for each in trace.devices() if (one := activity.read(each, name, modules)) is not None]
            found_host = host.read(trace, operations=not mine)
            found_host.host = name
            hosts.append(found_host)
            devices += mine
            notes += [*trace.remarks, *(f"the profiler says: {words}" for words in trace.words)]
            if trace.until_ps is not None:
                first_part.ended(trace.until_ps, found_host, mine)
                notes.append(first_part.note(file, trace.until_ps, found_host, mine))
    if not devices and not any(each.events for each in hosts):
        raise UsageError(f"the trace {source.files[0].name} holds no events: nothing was recorded while it was made")
    found = steps.find(hosts, devices)
    report = _with_devices(source, found, hosts, devices, progress) if devices else _host_only(found, hosts)
    if source.others:
        notes.append(f"{plural(len(source.others), 'other run')} beside it: {', '.join(source.others[:5])}")
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
    )
    report = msgspec.structs.replace(report, findings=findings.find(report))
    return msgspec.structs.replace(report, headline=findings.headline(report))


def _open(source: Source, file: Path, progress: Progress) -> AbstractContextManager[HostTrace]:
    if source.kind == "xplane":
        return open_planes(file, progress, share_of(source.files))
    return chrome.open_chrome(file, progress)


def _with_devices(
    source: Source,
    found: steps.Steps,
    hosts: Sequence[HostActivity],
    devices: Sequence[Activity],
    progress: Callable[[Path], Progress],
) -> TraceReport:
    by_host = {each.host: each for each in hosts}
    busiest = max(device.busy().total for device in devices)
    table: list[DeviceRow] = []
    waiting: dict[str, list[Spans]] = {}
    for device in devices:
        used = device.busy().total >= USED_DEVICE.value * busiest
        window = idle.window_of(device, found.of(device.full_name))
        explained = idle.explain(device, by_host.get(device.host), window)
        table.append(_device_row(device, explained, used))
        if used:
            waiting.setdefault(device.host, []).append(explained.of_host)
    machine = machine_of(max(devices, key=lambda device: device.busy().total).stats)
    used_rows = [row for row in table if row.used and row.window_ms > 0]
    whole = sum(row.window_ms for row in used_rows) or 1.0
    waits: dict[str, float] = {}
    for row in used_rows:
        for cause, ms in row.waits_ms.items():
            waits[cause] = waits.get(cause, 0.0) + ms / whole
    notes = []
    unused = [row.device for row in table if not row.used]
    if unused:
        verb = "is" if len(unused) == 1 else "are"
        notes.append(f"{', '.join(unused)} did next to nothing and {verb} left out of the means")
    return TraceReport(
        schema=SCHEMA,
        kind="",
        path="",
        run="",
        files=(),
        events=0,
        steps=_facts(found),
        idle_share=sum(row.idle_ms for row in used_rows) / whole,
        waits_share=dict(sorted(waits.items(), key=lambda item: -item[1])),
        machine=machine,
        devices=tuple(table),
        kernels=rows.kernel_rows(devices, machine),
        scopes=rows.scope_rows(devices),
        operations=rows.operation_rows(devices),
        lines=rows.line_rows(devices),
        copies=rows.copy_rows(devices),
        collectives=rows.collective_rows(devices),
        host=_starving(source, hosts, waiting, progress),
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
        copies=int(copies.sum()),
        span_ms=(int(device.end.max()) - int(device.begin[0])) / PS_PER_MS,
        span_busy_ms=device.busy().total / PS_PER_MS,
        used=used,
    )


def _uncovered_ms(spans: Spans, by: Spans, window: Spans) -> float:
    inside = within(spans, window)
    return (inside.total - int(covered(by, inside.begin, inside.end).sum())) / PS_PER_MS


def _starving(
    source: Source,
    hosts: Sequence[HostActivity],
    waiting: dict[str, list[Spans]],
    progress: Callable[[Path], Progress],
) -> tuple[HostRow, ...]:
    """A second look at the threads of the first host whose accelerators waited for it."""
    for file, each in zip(source.files, hosts, strict=True):
        idle_spans = union(waiting.get(each.host, []))
        if len(idle_spans):
            with _open(source, file, lambda _: None) as trace:
                return starving.frames(trace, idle_spans, idle_spans.total)
    return ()


def _host_only(found: steps.Steps, hosts: Sequence[HostActivity]) -> TraceReport:
    """A trace without accelerators: operations of the host by their own time, and what its threads were at."""
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
    first = hosts[0]
    window = [(step.begin, step.end) for step in found.steps] or [(first.first or 0, first.last)]
    spans = union([Spans(*map(_array, zip(*window, strict=True)))])
    share = {
        doing.value: int(covered(first.spans[doing], spans.begin, spans.end).sum()) / spans.total
        for doing in Doing
        if doing in first.spans and spans.total
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
        host_share={name: value for name, value in share.items() if value > 0},
        notes=notes,
    )


def _array(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


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
