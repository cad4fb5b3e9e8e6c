"""What in the placement costs time: the findings, with their evidence."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from tfperfkit.instruments import gpu_reason
from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit_probes import devices_codes as codes
from tfperfkit_probes.devices_model import CopyRow, DevicesData, FallbackRow, SyncRow

#: From this share of the step on, waiting for values is worth more than a remark; from the second one it is a lot.
SYNC_MEDIUM, SYNC_HIGH = 0.02, 0.20
#: Copies of less than this per step are a remark only.
COPY_BYTES = 1_000_000
_MAX_PLACES = 5


def findings(data: DevicesData, *, gpu_required: bool = False) -> tuple[Finding, ...]:
    """All findings, the gravest kind first."""
    return (*_gpu(data, gpu_required), *_no_device(data), *_copies(data), *_syncs(data))


def _gpu(data: DevicesData, required: bool) -> list[Finding]:
    facts = data.facts
    if facts is None or facts.gpus("logical"):
        return []
    cards = (*facts.hardware.nvidia, *facts.hardware.amd, *(device.name for device in facts.gpus("physical")))
    if not cards and not required:
        return []
    reason = gpu_reason.explain(facts)
    severity: Severity = "info" if reason.kind == "script" and not required else "high"
    missing = [library.name for library in facts.libraries if library.found is None and not library.loaded]
    details = []
    if facts.hardware.nvidia or facts.hardware.amd:
        details.append(f"In the machine: {', '.join((*facts.hardware.nvidia, *facts.hardware.amd))}.")
    if missing and reason.kind in ("libraries", "driver", "unknown"):
        details.append(f"Not found: {', '.join(missing)}.")
    title = f"{reason.sentence}: everything runs on the CPU"
    return [Finding(
        code=codes.GPU_UNUSED, family="device", title=title, severity=severity, basis="risk", share_of_step=0.0,
        predicted_speedup=None, where=(),
        evidence=(
            Measurement("GPUs in the machine", max(len(facts.hardware.nvidia) + len(facts.hardware.amd),
                                                   len(facts.gpus("physical"))), "count", "run"),
            Measurement("GPUs that the script can use", 0, "count", "run"),
        ),
        advice=reason.remedy, detail=" ".join(details),
    )]


def _no_device(data: DevicesData) -> list[Finding]:
    groups: dict[str, list[FallbackRow]] = defaultdict(list)
    for row in data.fallbacks:
        if row.kind == "device":
            groups[row.requested].append(row)
    found = []
    for requested, rows in groups.items():
        count = sum(row.count for row in rows)
        there = ", ".join(device.name for device in data.devices if device.kind == "logical") or "none"
        found.append(Finding(
            code=codes.NO_SUCH_DEVICE, family="device", severity="medium", basis="risk", share_of_step=0.0,
            predicted_speedup=None,
            title=f"{count} operation{'s' * (count != 1)} asked for {requested}, which does not exist",
            where=_places(rows),
            evidence=(Measurement(f"operations that asked for {requested}", count, "count", "run"),),
            detail=f"Without a word TensorFlow runs {'it' if count == 1 else 'them'} on "
            f"{', '.join(sorted({row.assigned for row in rows}))} instead (soft placement). There are: {there}.",
            advice=(
                f"Take the tf.device({requested!r}) scope out: TensorFlow uses a GPU by itself when there is one. If "
                "one was expected: tf.config.set_soft_device_placement(False) makes its absence an error."
            ),
        ))
    return found


def _copies(data: DevicesData) -> list[Finding]:
    rows = [row for row in data.copies if row.kind != "input" and (row.copies_per_step or data.window_steps == 0)]
    found = []
    own = [row for row in rows if row.kind != "replicas"]
    between = [row for row in rows if row.kind == "replicas"]
    for group, strategy in ((own, False), (between, True)):
        if group:
            found.append(_copy_finding(group, strategy, data.window_steps > 0))
    return found


def _copy_finding(rows: list[CopyRow], strategy: bool, per_step: bool) -> Finding:
    sizes = [row.bytes_per_step if per_step else row.bytes_per_call for row in rows]
    size = sum(item for item in sizes if item)
    accelerated = any("GPU" in name for row in rows for name in (row.source, row.target))
    repeated = any(row.repeated for row in rows)
    severity: Severity = "info"
    if not strategy and per_step:
        if accelerated:
            severity = "medium" if size >= COPY_BYTES or repeated else "low"
        elif size >= COPY_BYTES:
            severity = "low"
    unit = "step" if per_step else "call"
    evidence = [Measurement(f"bytes copied per {unit}", size, "bytes", "devices" if per_step else "run")]
    if per_step:
        count = sum(row.copies_per_step or 0 for row in rows)
        evidence.append(Measurement("copies per step", count, "count", "devices"))
    if unknown := sum(row.unknown_sizes for row in rows):
        evidence.append(Measurement("copies of unknown size", unknown, "count", "run"))
    ways = ", ".join(dict.fromkeys(f"{row.source} to {row.target}" for row in rows[:4]))
    detail = [f"{ways}."]
    if repeated:
        detail.append("Some are in a loop in the graph, counted once here: they happen at each turn.")
    if strategy:
        detail.append("The strategy adds up gradients and values across its replicas: that is what it is for.")
        advice = "Nothing to do, unless the step is short: larger batches per replica make it rarer per example."
    else:
        if not accelerated:
            detail.append("Both are the memory of this computer, so the copies cost little; to a GPU they would not.")
        advice = (
            "Put what belongs together under one tf.device scope, or take the scopes out and let TensorFlow choose; "
            "create a variable on the device that uses it."
        )
    title = (
        "The replicas of the strategy exchange tensors in every step" if strategy
        else f"Tensors go between devices at each {unit}"
    )
    return Finding(
        code=codes.COPIES, family="distribution" if strategy else "device", title=title, severity=severity,
        share_of_step=0.0, predicted_speedup=None, where=_places(rows), evidence=tuple(evidence),
        detail=" ".join(detail), advice=advice,
    )


def _syncs(data: DevicesData) -> list[Finding]:
    if not data.window_steps:
        return []
    own = [row for row in data.host_syncs if (row.per_step or 0) >= 0.5]
    accelerated = bool(data.facts and data.facts.gpus("logical"))
    waiting = [row for row in own if (row.share_of_step or 0.0) >= SYNC_MEDIUM]
    # What a library reads at no cost is not the person's doing: the table has it.
    cheap = [row for row in own if row not in waiting and not row.through]
    found = []
    for row in waiting:
        found.append(_sync_finding([row], "high" if (row.share_of_step or 0.0) >= SYNC_HIGH else "medium", accelerated))
    if cheap:
        found.append(_sync_finding(cheap, "low" if accelerated else "info", accelerated))
    return found


def _sync_finding(rows: list[SyncRow], severity: Severity, accelerated: bool) -> Finding:
    row = rows[0]
    share = min(sum(row.share_of_step or 0.0 for row in rows), 1.0)
    waits = severity in ("medium", "high")
    # What it waits for must be computed anyway: at best that goes on beside the rest of the step.
    most = 1 / max(share, 1 - share) if waits else None
    by = f" ({row.through} does it)" if row.through else ""
    ways = dict.fromkeys(way for row in rows for way in row.how)
    homes = dict.fromkeys(row.device for row in rows)
    detail = f"By {', '.join(ways)}, of tensors on {', '.join(homes)}{by}."
    if not accelerated:
        detail += " On a CPU the value is there when the operation returns, so reading it " + (
            "should cost next to nothing; here it did wait, for what was still being computed." if waits
            else "costs next to nothing; on a GPU the program would wait for all that was started."
        )
    count = sum(row.per_step or 0.0 for row in rows)
    who = "Python" if row.through else "The script"  # the probe's table counts a library's own reads too
    advice = (
        "Read it every N steps, or keep it as a tensor (a keras.metrics.Mean, a list of tensors) and read it once "
        "after the loop."
    )
    if row.through == "keras":
        advice = "Let Keras show fewer numbers: verbose=2 prints once an epoch; callbacks that read logs cost the same."
    return Finding(
        code=codes.HOST_SYNC, family="sync", severity=severity, share_of_step=share,
        title=f"{who} reads the values of tensors {_times(count)}{' and waits for them' * waits}",
        predicted_speedup=math.sqrt(most) if most else None,
        predicted_range=(1.0, most) if most else None,
        where=_places(rows),
        evidence=(
            Measurement("reads per step", count, "count", "devices"),
            Measurement("waited per step", sum(row.blocked_ms or 0.0 for row in rows), "ms", "devices"),
        ),
        detail=detail, advice=advice,
    )


def _times(count: float | None) -> str:
    if count is None or abs(count - 1) < 0.05:
        return "in every step"
    return f"{count:.1f} times a step".replace(".0 ", " ")


def _places(rows: Any) -> tuple[SourceSpan, ...]:
    spans = dict.fromkeys(SourceSpan(row.file, row.line, row.function) for row in rows if row.file)
    return tuple(spans)[:_MAX_PLACES]
