"""From a trace file to the numbers of the report."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from tfperfkit.records.parts import TRACED
from tfperfkit.records.steps import StepTable
from tfperfkit.xplane import Space, intervals, profile_options
from tfperfkit.xplane.hlo import count_programs
from tfperfkit.xplane.names import HOST, is_fetch
from tfperfkit.xplane.spans import Span, SpanIndex, intersect, total, union
from tfperfkit_probes.tfprof.breakdown import breakdown, share_of_longer
from tfperfkit_probes.tfprof.host import Host, Marker, Timeline, calls_of, read_host
from tfperfkit_probes.tfprof.model import CallRow, DeviceRow, ExchangeRow, OpRow
from tfperfkit_probes.tfprof.ops import OpKey, OpReader, OpTime, read_device, read_operations

PS_PER_MS = 1_000_000_000
PS_PER_NS = 1000
#: Operations kept in the data; the rest are summed up in ``rest_ms``.
TOP = 50
#: A call that takes longer before its function runs did not find the function in the cache: that takes 0.02 ms.
INSTANTIATED_PS = PS_PER_MS
#: Exchanges with other replicas that are kept, of the first traced steps.
MAX_EXCHANGES = 2000


class RunClock(msgspec.Struct, frozen=True, kw_only=True):
    """The trace's clock against the run's. ``begins_ns``: of the traced steps, on the run's. ``error_ms``: how far what
    single steps tell of it is apart."""

    begins_ns: dict[int, int]
    error_ms: float


class TraceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of the trace. Times are in ms; ``breakdown_ms`` and ``step_ms`` are means of one step.

    Without steps ``breakdown_ms`` is None and ``window_ms`` splits the whole window, of ``wall_ms``, instead.
    """

    steps: int
    first_step: int | None
    last_step: int | None
    step_ms: float | None
    wall_ms: float
    breakdown_ms: dict[str, float] | None
    window_ms: dict[str, float]
    input_share: float | None
    top_ops: tuple[OpRow, ...]
    input_ops: tuple[OpRow, ...]
    devices: tuple[DeviceRow, ...]
    rest_ms: float
    options: dict[str, int] | None
    graph_wait_share: float | None = None  # of the time in compiled functions, what is waiting for their data
    longer_wait_share: float | None = None  # the same of what makes a step's calls longer, see ``share_of_longer``
    prefetches: bool = False
    calls: tuple[CallRow, ...] = ()
    xla_compiles: int = 0  # in the traced steps, in all
    xla_compile_ms: float = 0.0  # of these, making machine code; XLA's passes before that are not in it
    xla_programs: dict[str, int] = {}  # that XLA had compiled when the trace ended, by function
    instantiations: int = 0  # calls that made a compiled function ready again, see ``_find_instantiated_again``
    instantiation_ms: float = 0.0
    notes: tuple[str, ...] = ()
    exchanges: tuple[ExchangeRow, ...] = ()
    exchange_ms: float = 0.0  # ms of a step in which any exchange was under way
    exchange_hidden_ms: float = 0.0  # ms of these in which an operation of a graph computed
    run_clock: RunClock | None = None


def analyse(space: Space, table: StepTable) -> TraceFacts:
    """Read an open trace. Raises ``Unavailable`` when it is damaged; never imports TensorFlow."""
    notes = [f"the profiler says: {text}" for text in (*space.errors, *space.warnings)]
    plane = space.plane(HOST)
    host = read_host(plane) if plane is not None else Host()
    timeline = host.training
    chosen, counts, dropped = choose_steps(sorted(timeline.markers), table)
    notes += dropped
    steps = [marker.span for marker in chosen]
    window = steps or whole(host)
    reader = plane.once(read_operations, *window) if plane is not None else OpReader(host, window)
    ops = dict(reader.ops)
    fetches = intervals.union([intervals.spans_of(host.fetches)])
    waits = intervals.without(fetches, reader.busy)
    wall = total(union(window))
    devices = []
    for device in space.devices():
        busy = union(read_device(device, window or None, ops))
        if window:
            busy = intersect(busy, union(window))
        share = total(busy) / wall if wall else 0.0
        devices.append(DeviceRow(device=device.name, busy_ms=_ms(total(busy)), busy_share=share))
    if len(devices) and wall:
        notes.append("with an accelerator, python includes the waits for its results")
    parts = breakdown(intervals.spans_of(window), timeline.events, waits)
    graph = intervals.within(calls_of(timeline), intervals.union([intervals.spans_of(window)]))
    count = sum(counts)
    compiles = [span for span in host.compiles if span.begin in SpanIndex(window)]
    again = _find_instantiated_again(timeline, window)
    compute, feeding, rest = _rows(ops)
    # A trace has an exchange twice: as it is handed over, and as it waits. The latter is the exchange.
    seen = {name for _, name in reader.exchanges}
    unseen = [row for row in reader.handed if row[1] not in seen]
    exchanged = intersect(union(span for span, _ in (*reader.exchanges, *reader.handed)), union(window))
    hidden = intervals.within(intervals.spans_of(exchanged), reader.computing).total if exchanged else 0
    return TraceFacts(
        steps=count,
        first_step=chosen[0].number if chosen else None,
        last_step=chosen[-1].number if chosen else None,
        step_ms=_ms(wall) / count if count else None,
        wall_ms=_ms(wall),
        breakdown_ms={name: _ms(parts[name]) / count for name in TRACED} if count else None,
        window_ms={name: _ms(parts[name]) for name in TRACED},
        input_share=parts["input"] / wall if wall else None,
        top_ops=compute,
        input_ops=feeding,
        devices=tuple(devices),
        rest_ms=rest,
        options=profile_options(space),
        graph_wait_share=intervals.within(graph, waits).total / graph.total if graph.total else None,
        longer_wait_share=share_of_longer(
            [intervals.spans_of([step]) for step in steps], graph, intervals.union([waits])
        ),
        prefetches=host.prefetches,
        calls=_calls(timeline.calls, window, count) if count else (),
        xla_compiles=len(compiles),
        xla_compile_ms=_ms(sum(span.end - span.begin for span in compiles)),
        xla_programs=count_programs(space),
        instantiations=len(again),
        instantiation_ms=_ms(sum(again)),
        notes=tuple(notes),
        exchanges=_exchanges([*reader.exchanges, *unseen], chosen),
        exchange_ms=_ms(total(exchanged)) / max(count, 1),
        exchange_hidden_ms=_ms(hidden) / max(count, 1),
        run_clock=_run_clock(chosen, table),
    )


def _run_clock(chosen: Sequence[Marker], table: StepTable) -> RunClock | None:
    """Return None if the steps of the trace are not those of the table, which the report counts again."""
    known = {step.number: step for step in table.steps}
    steps = [(known[marker.number], marker.span.begin / 1000) for marker in chosen if marker.number in known]
    if len(steps) < len(chosen) or not steps:
        return None
    apart = [step.begin_ns - begin for step, begin in steps]
    middle = statistics.median(apart)
    error = max(abs(each - middle) for each in apart)
    if error > min(step.end_ns - step.begin_ns for step, _ in steps) / 2:
        return None
    return RunClock(begins_ns={step.number: round(begin + middle) for step, begin in steps}, error_ms=error / 1e6)


def _exchanges(found: Sequence[tuple[Span, str]], steps: Sequence[Marker]) -> tuple[ExchangeRow, ...]:
    """The exchanges of the chosen steps in order of time; a whole step's or none."""
    begins = [step.span.begin for step in steps]
    rows: list[ExchangeRow] = []
    for span, name in sorted(found):
        index = bisect_right(begins, span.begin) - 1
        if index >= 0 and span.begin < steps[index].span.end:
            step = steps[index]
            after = _ms(span.begin - step.span.begin)
            rows.append(ExchangeRow(step=step.number, name=name, after_ms=after, ms=_ms(span.end - span.begin)))
    if len(rows) <= MAX_EXCHANGES:
        return tuple(rows)
    last = rows[MAX_EXCHANGES].step
    return tuple(row for row in rows if row.step < last)


def _find_instantiated_again(timeline: Timeline, window: Sequence[Span]) -> list[int]:
    """Find the calls of compiled functions before which the runtime made ready again what an earlier call of the same
    function in the trace had left in its cache; ps of each. A function that is new was made ready once, and counts
    for nothing here."""
    index, seen, again = SpanIndex(window), set[str](), list[int]()
    for (span, name), took in sorted(zip(timeline.calls, timeline.instantiating, strict=True)):
        if span.begin not in index:
            continue
        if name in seen and took > INSTANTIATED_PS:
            again.append(took)
        seen.add(name)
    return again


def _calls(calls: Sequence[tuple[Span, str]], window: Sequence[Span], steps: int) -> tuple[CallRow, ...]:
    index = SpanIndex(window)
    found: dict[str, list[int]] = {}
    for span, name in calls:
        if span.begin in index:
            found.setdefault(name, []).append(span.end - span.begin)
    rows = [CallRow(name=name, per_step=len(all_) / steps, ms=_ms(sum(all_)) / steps) for name, all_ in found.items()]
    return tuple(sorted(rows, key=lambda row: -row.ms)[:TOP])


def choose_steps(markers: Sequence[Marker], table: StepTable) -> tuple[list[Marker], list[int], list[str]]:
    """The traced steps to count, how many steps each stands for, and notes on what is left out.

    A marker lasts until the next step begins; where the step ended long before that (validation at the end of an
    epoch), the marker is cut to the step's own time from the table. A last step whose end was not seen is left out,
    if there are others.
    """
    known = {step.number: step for step in table.steps}
    chosen: list[Marker] = []
    counts: list[int] = []
    notes: list[str] = []
    shortened = 0
    for index, marker in enumerate(markers):
        step = known.get(marker.number)
        last = index == len(markers) - 1
        length = marker.span.end - marker.span.begin
        if step is None:
            if last and known and chosen:
                notes.append("the last traced step left out: its end was not seen")
                continue
            following = marker.number + 1 if last else markers[index + 1].number
            counts.append(max(1, following - marker.number))
        else:
            own = (step.end_ns - step.begin_ns) * PS_PER_NS
            slack = max(0.2 * own, PS_PER_MS)
            if length < own - slack and last and chosen:
                notes.append("the last traced step left out: its end was not seen")
                continue
            if length > own + slack:
                marker = Marker(marker.number, Span(marker.span.begin, marker.span.begin + own))
                shortened += 1
            counts.append(step.count)
        chosen.append(marker)
    if shortened:
        which = "a traced step" if shortened == 1 else f"{shortened} traced steps"
        notes.append(f"what followed {which} before the next began is left out (an epoch's end)")
    return chosen, counts, notes


def _rows(ops: dict[OpKey, OpTime]) -> tuple[tuple[OpRow, ...], tuple[OpRow, ...], float]:
    compute = {key: op for key, op in ops.items() if key.place not in ("input", "device")}
    kernels = {key: op for key, op in ops.items() if key.place == "device"}
    feeding = {key: op for key, op in ops.items() if key.place == "input"}
    rows = sorted(_shares(compute) + _shares(kernels), key=lambda row: -row.self_ms)
    rest = sum(row.self_ms for row in rows[TOP:])
    return tuple(rows[:TOP]), tuple(sorted(_shares(feeding), key=lambda row: -row.self_ms)[:TOP]), rest


def _shares(ops: dict[OpKey, OpTime]) -> list[OpRow]:
    whole = sum(op.self_ps for key, op in ops.items() if not is_fetch(key.type)) or 1
    return [
        OpRow(
            name=key.name,
            type=key.type,
            count=op.count,
            self_ms=_ms(op.self_ps),
            share=0.0 if is_fetch(key.type) else op.self_ps / whole,
            where=key.place,
            kernel_ms=_ms(op.kernel_ps) if op.kernel_ps is not None else None,
        )
        for key, op in ops.items()
    ]


def whole(host: Host) -> list[Span]:
    """Return the part of a trace without steps that counts: from the first event of the busiest thread on."""
    begins = host.training.events.begin
    begin = int(begins.min()) if len(begins) else 0
    return [Span(begin, host.end)] if host.end > begin else []


def _ms(ps: float) -> float:
    return ps / PS_PER_MS
