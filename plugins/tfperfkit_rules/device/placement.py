"""DEV001, DEV002, DEV003: a GPU that is not used, devices that do not exist, tensors that are copied between devices.

GPUs are found on the PCI bus and by their drivers' files. The partition graphs of the first execution show where
operations run, and each tensor that crosses devices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tfperfkit_probes.devices.model import CopyRow, DevicesData, FallbackRow, SyncRow

from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.measures import shared

TITLES = {
    "DEV001": "TensorFlow does not use the GPU",
    "DEV002": "tf.device names a device that does not exist",
    "DEV003": "Tensors are copied between devices in every step",
}


def unused_gpu(evidence: Evidence) -> Iterator[Finding]:
    """DEV001: the machine has a GPU that TensorFlow does not use, or the run was meant for one."""
    data = evidence.offer(DevicesData)
    facts = data.facts if data is not None else None
    if data is None or facts is None or facts.gpus("logical"):
        return
    required = data.gpu_required
    cards = (*facts.hardware.nvidia, *facts.hardware.amd, *(device.name for device in facts.gpus("physical")))
    if not cards and not required:
        return
    severity: Severity = "info" if data.no_gpu_kind == "script" and not required else "high"
    missing = [library.name for library in facts.libraries if library.found is None and not library.loaded]
    details = []
    if facts.hardware.nvidia or facts.hardware.amd:
        details.append(f"In the machine: {', '.join((*facts.hardware.nvidia, *facts.hardware.amd))}.")
    if missing and data.no_gpu_kind in ("libraries", "driver", "unknown"):
        details.append(f"Not found: {', '.join(missing)}.")
    yield Finding(
        code="DEV001",
        title=f"{TITLES['DEV001']} ({data.no_gpu})",
        severity=severity,
        basis="risk",
        share_of_step=0.0,
        evidence=(
            Measurement(
                "GPUs in the machine",
                max(len(facts.hardware.nvidia) + len(facts.hardware.amd), len(facts.gpus("physical"))),
                "count",
                "run",
            ),
            Measurement("GPUs that TensorFlow can use", 0, "count", "run"),
        ),
        advice=data.no_gpu_remedy,
        detail=" ".join(details),
    )


def missing_device(evidence: Evidence) -> Iterator[Finding]:
    """DEV002: operations ask for a device that does not exist, and run on another without a word."""
    data = evidence.offer(DevicesData)
    if data is None:
        return
    groups: dict[str, list[FallbackRow]] = defaultdict(list)
    for row in data.fallbacks:
        if row.kind == "device":
            groups[row.requested].append(row)
    for requested, rows in groups.items():
        count = sum(row.count for row in rows)
        there = ", ".join(device.name for device in data.devices if device.kind == "logical") or "none"
        yield Finding(
            code="DEV002",
            remedy=Setting("device", ""),
            severity="medium",
            basis="risk",
            share_of_step=0.0,
            title=f"{TITLES['DEV002']}: {requested}, in {count} operation{'s' * (count != 1)}",
            where=places(rows),
            evidence=(Measurement(f"operations placed on {requested}", count, "count", "run"),),
            detail=f"TensorFlow silently runs {'it' if count == 1 else 'them'} on "
            f"{', '.join(sorted({row.assigned for row in rows}))} instead (soft placement). Existing devices: {there}.",
            advice=(
                f"Remove the tf.device({requested!r}) scope: TensorFlow uses a GPU by itself when there is one. Or: "
                "call tf.config.set_soft_device_placement(False), which makes a missing device an error."
            ),
        )


def copies(evidence: Evidence) -> Iterator[Finding]:
    """DEV003: tensors go from one device to another in every step."""
    data = evidence.offer(DevicesData)
    if data is None:
        return
    rows = [row for row in data.copies if row.kind != "input" and (row.copies_per_step or data.window_steps == 0)]
    own = [row for row in rows if row.kind != "replicas"]
    between = [row for row in rows if row.kind == "replicas"]
    for group, strategy in ((own, False), (between, True)):
        if group:
            yield _copy_finding(group, strategy, data.window_steps > 0, evidence.unit)


def _copy_finding(rows: list[CopyRow], strategy: bool, per_step: bool, unit: Unit) -> Finding:
    sizes = [row.bytes_per_step if per_step else row.bytes_per_call for row in rows]
    size = sum(item for item in sizes if item)
    accelerated = any("GPU" in name for row in rows for name in (row.source, row.target))
    repeated = any(row.repeated for row in rows)
    each = "step" if per_step else "call"
    evidence = [Measurement(f"bytes copied per {each}", size, "bytes", "devices" if per_step else "run")]
    if per_step:
        count = sum(row.copies_per_step or 0 for row in rows)
        evidence.append(Measurement(f"copies {unit.per}", count, "count", "devices"))
    if unknown := sum(row.unknown_sizes for row in rows):
        evidence.append(Measurement("copies of unknown size", unknown, "count", "run"))
    ways = ", ".join(dict.fromkeys(f"{row.source} to {row.target}" for row in rows[:4]))
    detail = [f"{ways}."]
    if repeated:
        detail.append("Some are in a graph loop, counted once here: they happen in each iteration.")
    if strategy:
        detail.append("The strategy sums gradients and values across its replicas, as intended.")
        advice = f"Leave it as it is. Or: use larger batches per replica if {unit.the} is short."
    else:
        if not accelerated:
            detail.append("Both devices use this computer's memory, so these copies cost little.")
        advice = (
            "Create each variable on the device that uses it, under one tf.device scope. Or: remove the scopes, and "
            "let TensorFlow choose."
        )
    title = (
        f"Tensors are copied between the strategy's replicas in {unit.every}"
        if strategy
        else f"Tensors are copied between devices in every {each}"
    )
    return Finding(
        code="DEV003",
        family="distribution" if strategy else "device",
        title=title,
        share_of_step=0.0,
        where=places(rows),
        evidence=tuple(evidence),
        detail=" ".join(detail),
        advice=advice,
    )


def places(rows: Iterable[FallbackRow | CopyRow | SyncRow]) -> tuple[SourceSpan, ...]:
    """The lines of these rows, each once; five at most."""
    spans = dict.fromkeys(SourceSpan(row.file, row.line, row.function) for row in rows if row.file)
    return tuple(spans)[: shared.MAX_PLACES.value]
