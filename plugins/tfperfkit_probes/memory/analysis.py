"""Make ``MemoryData`` from the records, and what the probe offers to the step's account and to rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tfperfkit.clock import NS_PER_S, ms
from tfperfkit.offers import GarbageCollections, MemoryLimit, MemoryUse
from tfperfkit.probe import Capture
from tfperfkit.records.convert import read
from tfperfkit.records.memory import Limit
from tfperfkit.records.plural import plural
from tfperfkit_probes.memory.functions import peaks_per_function
from tfperfkit_probes.memory.growers import growers
from tfperfkit_probes.memory.growth import Growth, growth, theil_sen
from tfperfkit_probes.memory.model import (
    FACTS,
    GC,
    GPUS,
    LENGTHS,
    LIVE,
    LOOKS,
    NAMES,
    RSS,
    CollectionRecord,
    DeviceMemory,
    Facts,
    GcTotals,
    GpuRecord,
    LengthRecord,
    LiveRecord,
    LookRecord,
    MemoryData,
    NameRecord,
    Sample,
)
from tfperfkit_probes.memory.phases import Phases
from tfperfkit_probes.memory.trace import gpu_limits, read_allocators

#: Less than this over the whole phase is not called a growth: an allocator's arena may give and take as much.
MIN_GROWTH_BYTES = 8_000_000
_MAX_SERIES = 200


def analyse(capture: Capture) -> tuple[MemoryData, tuple[str, ...]]:
    """The data, and what the reader must know about it."""
    samples = sorted(read(capture, RSS, Sample), key=lambda sample: sample.ns)
    facts = read(capture, FACTS, Facts)
    looks = sorted(read(capture, LOOKS, LookRecord), key=lambda look: look.ns)
    phases = Phases(capture.steps)
    only_peak = any(fact.only_peak for fact in facts)
    found = None if only_peak else growth(phases.boundaries(samples))
    significant = found is not None and is_significant(found)
    per_step = found.slope if found is not None else None
    limits = facts[0].limits if facts else ()
    nearest, used, room = nearest_limit(limits, samples)
    grow = growers(
        looks,
        read(capture, NAMES, NameRecord),
        read(capture, LENGTHS, LengthRecord),
        read(capture, LIVE, LiveRecord),
        phases,
        capture.source,
    )
    data = MemoryData(
        rss_first_bytes=samples[0].rss_bytes if samples else None,
        rss_steady_bytes=_at(samples, phases.warm_ns),
        rss_last_bytes=_last_while_training(samples, phases),
        rss_peak_bytes=max((max(sample.peak_bytes, sample.rss_bytes) for sample in samples), default=None),
        growth_bytes_per_step=per_step,
        growth_range=(found.low, found.high) if found is not None else None,
        growth_is_significant=significant,
        growth_first_step=int(found.first) if found is not None else None,
        growth_last_step=int(found.last) if found is not None else None,
        explained_bytes_per_step=sum(item.bytes_per_step or 0.0 for item in grow),
        python_blocks_per_step=_blocks_per_step(looks, phases),
        steps_to_limit=int(room / per_step) if significant and per_step and room is not None else None,
        growers=grow,
        limit_bytes=nearest.limit_bytes if nearest else None,
        limit_source=nearest.source if nearest else "",
        share_of_limit=used / nearest.limit_bytes if nearest else None,
        limits=limits,
        devices=_devices(read(capture, GPUS, GpuRecord), phases, gpu_limits(capture.trace_dir)),
        functions=peaks_per_function(samples, capture.session_records("samples")),
        allocators=read_allocators(capture.trace_dir),
        gc=_gc(read(capture, GC, CollectionRecord), facts, phases),
        series=_series(samples, phases),
        looks=len(looks),
        looks_ms=ms(sum(look.took_ns for look in looks)),
    )
    return data, tuple(_notes(data, samples, looks, phases, facts))


def is_significant(found: Growth) -> bool:
    """Whether it is a growth with the steps: the interval above 0, more than 8 MB in the phase, and going on in its
    second half."""
    return found.low > 0 and found.total > MIN_GROWTH_BYTES and found.steady


def nearest_limit(limits: Sequence[Limit], samples: Sequence[Sample]) -> tuple[Limit | None, int, int | None]:
    """The limit of which the peak takes the largest share, what it takes, and the room left at the end (bytes).

    The room is also no more than what was free in the machine or the group when recording began, less what the
    process took since.
    """
    if not limits or not samples:
        return None, 0, None
    peak = max(max(sample.peak_bytes, sample.rss_bytes) for sample in samples)
    virtual = max(sample.virtual_bytes for sample in samples)
    nearest = max(limits, key=lambda limit: (virtual if limit.virtual else peak) / limit.limit_bytes)
    last, first = samples[-1], samples[0]
    room = nearest.limit_bytes - (last.virtual_bytes if nearest.virtual else last.rss_bytes)
    if nearest.free_bytes is not None:
        room = min(room, nearest.free_bytes - (last.rss_bytes - first.rss_bytes))
    return nearest, virtual if nearest.virtual else peak, max(room, 0)


def _at(samples: Sequence[Sample], ns: int | None) -> int | None:
    if ns is None:
        return None
    return next((sample.rss_bytes for sample in samples if sample.ns >= ns), None)


def _last_while_training(samples: Sequence[Sample], phases: Phases) -> int | None:
    """At the end of the last step; at the end of the run when there are no steps."""
    if phases.end_ns is not None:
        before = [sample.rss_bytes for sample in samples if sample.ns <= phases.end_ns]
        if before:
            return before[-1]
    return samples[-1].rss_bytes if samples else None


def _blocks_per_step(looks: Sequence[LookRecord], phases: Phases) -> float | None:
    if phases.warm_ns is None:
        return None
    points = [(float(phases.number_at(look.ns)), float(look.blocks)) for look in looks if look.ns >= phases.warm_ns]
    return theil_sen(points) if len(points) >= 3 else None


def _devices(records: Sequence[GpuRecord], phases: Phases, limits: dict[str, int]) -> tuple[DeviceMemory, ...]:
    rows = []
    for device in sorted({record.device for record in records}):
        own = [record for record in records if record.device == device]
        begin = phases.begin_ns
        found = growth(
            [
                (float(phases.number_at(record.ns)), float(record.current_bytes))
                for record in own
                if begin is not None and record.ns >= begin
            ]
        )
        rows.append(
            DeviceMemory(
                device=device,
                peak_bytes=max(record.peak_bytes for record in own),
                last_bytes=own[-1].current_bytes,
                growth_bytes_per_step=found.slope if found is not None and is_significant(found) else None,
                limit_bytes=limits.get(device),
            )
        )
    return tuple(rows)


def _gc(records: Sequence[CollectionRecord], facts: Sequence[Facts], phases: Phases) -> GcTotals:
    end = next((fact for fact in facts if fact.ended), None)
    spent = [record.end_ns - record.begin_ns for record in records]
    steady = 0
    steady_ns = 0
    for record in records:
        step = phases.step_at(record.begin_ns)
        if step is not None and step.window in ("clean", "settle") and record.begin_ns < step.end_ns:
            steady += 1
            steady_ns += record.end_ns - record.begin_ns
    steps_ns = phases.training_ns
    return GcTotals(
        count=sum(end.gc_count) if end else len(records),
        full=end.gc_count[2] if end else sum(record.generation == 2 for record in records),
        ms=ms(sum(end.gc_ns) if end else sum(spent)),
        longest_ms=ms(max(spent, default=0)),
        steady_count=steady,
        steady_ms=ms(steady_ns),
        steady_share=min(steady_ns / steps_ns, 1.0) if steps_ns else 0.0,
    )


def _series(samples: Sequence[Sample], phases: Phases) -> tuple[tuple[float, int, int, int], ...]:
    if not samples:
        return ()
    count = min(len(samples), _MAX_SERIES)
    chosen = [samples[round(i * (len(samples) - 1) / max(count - 1, 1))] for i in range(count)]
    origin = samples[0].ns
    return tuple(
        (round((sample.ns - origin) / NS_PER_S, 3), phases.number_at(sample.ns), sample.rss_bytes, sample.own_bytes)
        for sample in chosen
    )


def _notes(
    data: MemoryData, samples: Sequence[Sample], looks: Sequence[LookRecord], phases: Phases, facts: Sequence[Facts]
) -> list[str]:
    notes = []
    if samples and data.growth_bytes_per_step is None and not any(fact.only_peak for fact in facts):
        if not phases.steady:
            notes.append("no training steps: growth per step is not known")
        else:
            notes.append(
                f"too few samples to tell growth: {plural(len(phases.clean), 'step')} without a window after the "
                "warm-up and what settles after it"
            )
    cut = sum(not look.complete for look in looks)
    if cut:
        notes.append(f"{cut} of {len(looks)} looks at the script's containers were ended early: too many, or too slow")
    times = Counter(name for look in looks for name in look.skipped)
    skipped = sorted(name for name, count in times.items() if 2 * count > len(looks))
    if skipped:
        notes.append(
            f"local variables of {', '.join(skipped[:5])} were not looked at: "
            "reading them could show in locals() or to a debugger"
        )
    return notes


def collected(records: Iterable[CollectionRecord]) -> GarbageCollections:
    """Offer when garbage was collected."""
    kept = list(records)
    return GarbageCollections(
        spans=tuple((record.begin_ns, record.end_ns) for record in kept),
        threads=tuple(record.thread for record in kept),
    )


def offers(data: MemoryData, records: Iterable[CollectionRecord] = ()) -> tuple[Any, ...]:
    """Offer the collections, the memory of the process, and its limit if there is one."""
    made: list[Any] = [collected(records)]
    if data.limit_bytes:
        made.append(MemoryLimit(limit_bytes=data.limit_bytes))
    if data.rss_peak_bytes:
        growth = data.growth_bytes_per_step
        if growth is not None and not data.growth_is_significant:
            growth = 0.0
        made.append(MemoryUse(peak_bytes=data.rss_peak_bytes, growth_bytes_per_step=growth))
    return tuple(made)
