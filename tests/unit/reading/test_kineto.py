"""Traces of PyTorch's profiler, in TensorFlow's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.reading import analyse, sources

NCCL = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"


def event(cat: str, name: str, ts: float, dur: float, tid: object = 1, **args: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "ts": ts,
        "dur": dur,
        "pid": "Spans" if cat == "Trace" else 7,
        "tid": tid,
        "args": args,
    }


def trace(steps: int = 3) -> list[dict[str, Any]]:
    """Steps of 10 ms: a product for 4 ms, two exchanges on two streams from 4 to 8 ms, a copy that the host waits for
    until 9 ms; the host launches the next product 9.5 ms after the step's begin, from Python."""
    made = [event("Trace", "PyTorch Profiler (0)", 0, 10_000 * steps, "PyTorch Profiler")]
    for step in range(steps):
        at = 10_000.0 * step
        number = 10 * step
        made += [
            event("user_annotation", f"ProfilerStep#{step + 6}", at, 10_000),
            event("gpu_user_annotation", f"ProfilerStep#{step + 6}", at, 10_000, "g"),
            event("cpu_op", "aten::mm", at, 20, **{"External id": number}),
            event("cuda_runtime", "cudaLaunchKernel", at, 5, correlation=number),
            event("cuda_runtime", "cudaMemcpy", at + 7_900, 1_100, correlation=number + 3),
            event("python_function", "train.py(12): step", at + 9_000, 1_000),
            event(
                "kernel",
                "ampere_sgemm",
                at,
                4_000,
                "s1",
                device=0,
                stream=1,
                correlation=number,
                **{"External id": number},
            ),
            event("kernel", NCCL, at + 4_000, 4_000, "s2", device=0, stream=2, correlation=number + 1),
            event("kernel", NCCL, at + 4_000, 4_000, "s3", device=0, stream=3, correlation=number + 2),
            event(
                "gpu_memcpy",
                "Memcpy DtoH (Device -> Pageable)",
                at + 8_000,
                1_000,
                "s1",
                device=0,
                stream=1,
                correlation=number + 3,
                bytes=64,
            ),
        ]
    return made


def test_kernels_copies_and_steps(tmp_path: Path) -> None:
    file = tmp_path / "rank0.pt.trace.json"
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": trace()}))
    report = analyse.read(sources.find(file), str(file), lambda _: lambda _: None)
    assert (report.steps.source, report.steps.count, report.steps.median_ms) == ("markers", 3, 10.0)
    (device,) = report.devices
    assert (device.device, device.busy_ms, device.idle_ms) == ("GPU:0", 27.0, 3.0)
    assert device.waits_ms["Python"] == pytest.approx(3.0, abs=0.02)
    assert [(row.kernel, row.operation, row.total_ms) for row in report.kernels][1] == ("ampere_sgemm", "aten/mm", 12.0)
    (copy,) = report.copies
    assert (copy.kind, copy.runs, copy.bytes, copy.synchronous, copy.pageable) == ("device to host", 3, 192, 3, 3)
    # Two at once take the time of one.
    (found,) = [finding for finding in report.findings if finding.code == "TRC005"]
    assert found.share_of_step == pytest.approx(0.4) and device.only_collectives_ms == 12.0
    assert not any("last device" in each.name for each in found.evidence)
    assert any("PyTorch" in note for note in report.notes)
