"""Made-up records of the probe ``devices``, and its analysis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from tfperfkit_probes.devices.model import FACTS, FUNCTIONS, SLICES, FunctionRecord, Slice
from tfperfkit_probes.devices.probe import DevicesProbe

from tfperfkit.model import ProbeResult, SourceSpan
from tfperfkit.records.devices import Device, DeviceFacts
from tfperfkit.records.placement import Copy, Fallback, Placement, Sync
from tfperfkit.testing import FakeRecording, capture_of, check_result, even_steps

NS_PER_MS = 1_000_000
HERE = SourceSpan("train.py", 12, "step")
GPU = Device(name="GPU:0", type="GPU", kind="logical")


def facts(*more: Device, **changes: Any) -> DeviceFacts:
    cpus = (Device(name="CPU:0", type="CPU", kind="physical"), Device(name="CPU:0", type="CPU", kind="logical"))
    return DeviceFacts(devices=(*cpus, *more), package="tensorflow 2.21.0", soft_placement=True, **changes)


def copy(source: str, target: str, size: int | None, **changes: Any) -> Copy:
    made = Copy(
        source=source,
        target=target,
        op="MatMul",
        user="Relu",
        argument=False,
        variable=False,
        bytes=size,
        estimated=False,
        repeated=False,
        made=HERE,
        used=HERE,
    )
    return msgspec.structs.replace(made, **changes)


def function(graph: str = "f", **placement: Any) -> FunctionRecord:
    empty: dict[str, Any] = {
        "ops": {"CPU:0": {"MatMul": 3, "Const": 9}},
        "asked": {},
        "fallbacks": [],
        "copies": [],
        "variables": [],
        "replicas": False,
    }
    return FunctionRecord(
        graph=graph,
        function="step",
        file="train.py",
        line=10,
        owner="user",
        step=1,
        placement=Placement(**{**empty, **placement}),
    )


def sync(blocked_ms: float, count: int = 1, **changes: Any) -> Sync:
    made = Sync("train.py", 30, "main", "float()", "CPU:0", "", count, round(blocked_ms * NS_PER_MS))
    return msgspec.structs.replace(made, **changes)


def slices(count: int, calls: dict[str, int] | None = None, *syncs: Sync) -> list[Slice]:
    return [Slice(complete=True, syncs=list(syncs), calls=calls or {}) for _ in range(count)]


def analyze(folder: Path, *records: Any, machine: DeviceFacts | None = None, **recorded: Any) -> ProbeResult:
    """Steps of 10 ms. ``recorded``: what ``FakeRecording`` takes."""
    recording = FakeRecording(folder, **recorded)
    recording.append(FACTS, machine or facts())
    for record in records:
        recording.append(SLICES if isinstance(record, Slice) else FUNCTIONS, record)
    result = DevicesProbe().analyze(capture_of(recording, steps=even_steps(20, 10 * NS_PER_MS)))
    check_result(result)
    return result


def fallback(kind: str, requested: str = "GPU:0") -> Fallback:
    return Fallback(
        op="Relu",
        dtype="float32",
        requested=requested,
        assigned="CPU:0",
        kind=kind,
        reason="because",
        count=2,
        where=HERE,
    )
