"""Compute the numbers of the report from the records, and what the probe offers to rules."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from tfperfkit.clock import ms
from tfperfkit.offers import Gpus, HostRead, HostReads
from tfperfkit.probe import Capture
from tfperfkit.records import gpu_reason
from tfperfkit.records.convert import read
from tfperfkit.records.devices import DeviceFacts
from tfperfkit.records.placement import Copy
from tfperfkit.records.steps import StepTable
from tfperfkit_probes.devices.eager import eager_copies, eager_fallbacks, eager_per_step
from tfperfkit_probes.devices.model import (
    FACTS,
    FUNCTIONS,
    SLICES,
    CopyRow,
    DevicesData,
    FallbackRow,
    FunctionRecord,
    FunctionRow,
    PlacementRow,
    Slice,
    SyncRow,
)
from tfperfkit_probes.devices.trace import read_trace


def analyse(capture: Capture) -> DevicesData:
    """Everything that was recorded, added up."""
    facts = next(iter(read(capture, FACTS, DeviceFacts)), None)
    functions = read(capture, FUNCTIONS, FunctionRecord)
    slices = read(capture, SLICES, Slice)
    steps = sum(piece.complete for piece in slices)
    rates = calls_per_step(slices)
    logical = frozenset(device.name for device in facts.devices if device.kind == "logical") if facts else frozenset()
    accelerators, transfers = read_trace(capture.trace_dir)
    no_gpu = gpu_reason.explain(facts) if facts is not None and not facts.gpus("logical") else None
    return DevicesData(
        devices=facts.devices if facts else (),
        placements=placements(functions, eager_per_step(slices)),
        fallbacks=(*fallbacks(functions), *eager_fallbacks(slices, logical)),
        copies=(*copies(functions, rates), *eager_copies(slices)),
        host_syncs=host_syncs(slices, step_ms(capture.steps)),
        functions=tuple(_make_row(record, rates) for record in functions),
        facts=facts,
        no_gpu=no_gpu.sentence if no_gpu is not None else "",
        window_steps=steps,
        transfers=transfers,
        accelerators=accelerators,
        recording_ms=ms(sum(record.own_ns for record in functions)),
        first_runs_ms=ms(sum(record.first_ns for record in functions)),
        no_gpu_kind=no_gpu.kind if no_gpu is not None else "",
        no_gpu_remedy=no_gpu.remedy if no_gpu is not None else "",
        # In the options: as it was recorded when --require-gpu was an option of this probe.
        gpu_required=capture.gpu_required or capture.options.get("require_gpu") is True,
    )


def step_ms(steps: StepTable) -> float | None:
    """The median of the clean steps; of the window's own where there are none."""
    chosen = steps.clean or steps.in_window("devices")
    return ms(int(statistics.median(step.end_ns - step.begin_ns for step in chosen))) if chosen else None


def calls_per_step(slices: Sequence[Slice]) -> dict[str, float] | None:
    """By concrete function; None when the window saw no whole step."""
    whole = [piece for piece in slices if piece.complete]
    if not whole:
        return None
    counted: Counter[str] = Counter()
    for piece in whole:
        counted.update(piece.calls)
    return {name: count / len(whole) for name, count in counted.items()}


def _make_row(record: FunctionRecord, rates: dict[str, float] | None) -> FunctionRow:
    ops = {device: sum(types.values()) for device, types in record.placement.ops.items()} if record.placement else {}
    return FunctionRow(
        function=record.function,
        file=record.file,
        line=record.line,
        ops=ops,
        reason=record.reason,
        calls_per_step=rates.get(record.graph, 0.0) if rates is not None else None,
    )


def placements(functions: Iterable[FunctionRecord], eager: dict[str, float] | None) -> tuple[PlacementRow, ...]:
    """By device, the one with the most operations first."""
    types: dict[str, Counter[str]] = defaultdict(Counter)
    asked: Counter[str] = Counter()
    used: Counter[str] = Counter()
    variables: dict[tuple[str, str], int] = {}
    for record in functions:
        if record.placement is None:
            continue
        for device, counts in record.placement.ops.items():
            types[device].update(counts)
            used[device] += 1
        asked.update(record.placement.asked)
        for variable in record.placement.variables:
            variables[variable.device, variable.name] = variable.bytes
            types.setdefault(variable.device, Counter())
    for device in eager or ():
        types.setdefault(device, Counter())
    rows = [
        PlacementRow(
            device=device,
            ops=sum(counts.values()),
            asked=asked[device],
            functions=used[device],
            variables=sum(home == device for home, _ in variables),
            variable_bytes=sum(size for (home, _), size in variables.items() if home == device),
            eager_per_step=eager.get(device, 0.0) if eager is not None else None,
            types=dict(counts.most_common()),
        )
        for device, counts in types.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.ops, row.device)))


def fallbacks(functions: Iterable[FunctionRecord]) -> tuple[FallbackRow, ...]:
    """The same line's operations of all traces together, the most frequent first."""
    sums: Counter[tuple[Any, ...]] = Counter()
    for record in functions:
        for row in record.placement.fallbacks if record.placement else ():
            place = (row.where.file, row.where.line, row.where.function) if row.where else ("", 0, "")
            sums[(row.op, row.dtype, row.requested, row.assigned, row.kind, row.reason, *place)] += row.count
    return tuple(
        FallbackRow(
            op=key[0],
            dtype=key[1],
            requested=key[2],
            assigned=key[3],
            kind=key[4],
            reason=key[5],
            count=count,
            file=key[6],
            line=key[7],
            function=key[8],
        )
        for key, count in sums.most_common()
    )


def copies(functions: Iterable[FunctionRecord], rates: dict[str, float] | None) -> tuple[CopyRow, ...]:
    """By devices and line, the most bytes first. A function that the window never saw run copies nothing per step."""
    groups: dict[tuple[Any, ...], list[tuple[Copy, str]]] = defaultdict(list)
    for record in functions:
        if record.placement is None:
            continue
        for copy in record.placement.copies:
            where = copy.used or copy.made
            place = (where.file, where.line, where.function) if where else (record.file, record.line, record.function)
            kind = _kind(copy, record.placement.replicas)
            groups[(copy.source, copy.target, kind, *place)].append((copy, record.graph))
    rows = [_copy_row(key, group, rates) for key, group in groups.items()]
    return tuple(sorted(rows, key=lambda row: (-(row.bytes_per_step or 0), -row.bytes_per_call)))


def _kind(copy: Copy, replicas: bool) -> str:
    if replicas:
        return "replicas"
    if copy.argument:
        return "input"
    return "variable" if copy.variable else "result"


def _copy_row(key: tuple[Any, ...], group: list[tuple[Copy, str]], rates: dict[str, float] | None) -> CopyRow:
    known = [(copy.bytes, graph) for copy, graph in group if copy.bytes is not None]
    per_step = count = None
    if rates is not None:
        count = sum(rates.get(graph, 0.0) for _, graph in group)
        if known:
            per_step = round(sum(size * rates.get(graph, 0.0) for size, graph in known))
    made = next((copy.made for copy, _ in group if copy.made), None)
    latest = group[-1][1]
    return CopyRow(
        source=key[0],
        target=key[1],
        kind=key[2],
        file=key[3],
        line=key[4],
        function=key[5],
        bytes_per_step=per_step,
        copies_per_step=count,
        ops=tuple(dict.fromkeys(copy.op for copy, _ in group)),
        users=tuple(dict.fromkeys(copy.user for copy, _ in group if copy.user)),
        bytes_per_call=sum(size for size, graph in known if graph == latest),
        unknown_sizes=len(group) - len(known),
        estimated=any(copy.estimated for copy, _ in group),
        repeated=any(copy.repeated for copy, _ in group),
        made_file=made.file if made else "",
        made_line=made.line if made else 0,
    )


def host_syncs(slices: Sequence[Slice], step: float | None) -> tuple[SyncRow, ...]:
    """By line and way of reading through the same code, the longest waits first."""
    whole = [piece for piece in slices if piece.complete]
    chosen = whole or slices
    sums: dict[tuple[str, int, str, str], list[int]] = {}
    ways: dict[tuple[str, int, str, str], list[str]] = defaultdict(list)
    homes: dict[tuple[str, int, str, str], str] = {}
    for piece in chosen:
        for sync in piece.syncs:
            key = (sync.file, sync.line, sync.function, sync.through)
            entry = sums.setdefault(key, [0, 0])
            entry[0] += sync.count
            entry[1] += sync.blocked_ns
            homes[key] = sync.device
            if sync.how not in ways[key]:
                ways[key].append(sync.how)
    rows = []
    for key, (count, blocked_ns) in sums.items():
        blocked = ms(blocked_ns) / len(whole) if whole else None
        rows.append(
            SyncRow(
                file=key[0],
                line=key[1],
                function=key[2],
                through=key[3],
                how=tuple(ways[key]),
                device=homes[key],
                count=count,
                total_ms=ms(blocked_ns),
                per_step=count / len(whole) if whole else None,
                blocked_ms=blocked,
                share_of_step=min(blocked / step, 1.0) if blocked is not None and step else None,
            )
        )
    return tuple(sorted(rows, key=lambda row: (-(row.blocked_ms or 0.0), -row.count)))


def offers(data: DevicesData, watched: bool = True) -> tuple[Any, ...]:
    """Offer the reads of tensors, unless no step was ``watched``, and the GPUs if TensorFlow listed them."""
    rows = tuple(
        HostRead(file=row.file, line=row.line, per_step=row.per_step, through=row.through) for row in data.host_syncs
    )
    made: list[Any] = [HostReads(rows=rows)] if watched or rows else []
    if data.facts is not None:
        capabilities = [device.compute_capability for device in data.facts.gpus("physical")]
        made.append(Gpus(capabilities=tuple((each[0], each[1]) for each in capabilities if each is not None)))
    return tuple(made)
