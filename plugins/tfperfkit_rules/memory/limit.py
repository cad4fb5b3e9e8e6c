"""MEM003: the peak of the process's memory, or of a GPU's, is close to its limit."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.memory.model import MemoryData

from tfperfkit.calibration import Chosen, Cited, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.rule import Evidence

TITLES = {"MEM003": "Process or GPU memory peaks close to its limit"}

NEAR = Threshold(
    0.9,
    "share",
    "minimum share of the memory limit at the peak",
    Cited("the PyTorch profiler's TensorBoard plugin: 90 %"),
)
GRAVE = Threshold(
    0.97, "share", "share of the memory limit at the peak, for severity high", Chosen("one more batch may end the run")
)


def near_limit(evidence: Evidence) -> Iterator[Finding]:
    """MEM003: the peak is near the limit, of the process or of a GPU."""
    data = evidence.offer(MemoryData)
    if data is None:
        return
    share = data.share_of_limit
    if share is not None and share >= NEAR.value and data.limit_bytes and data.rss_peak_bytes:
        top = max(data.functions, key=lambda row: row.peak_bytes, default=None)
        yield Finding(
            code="MEM003",
            severity="high" if share >= GRAVE.value else "medium",
            basis="risk",
            title=f"Process memory peaks close to its limit ({data.limit_source})",
            share_of_step=0.0,
            where=(SourceSpan(top.file, top.line, top.function),) if top is not None else (),
            evidence=(
                Measurement("peak memory", data.rss_peak_bytes, "bytes", "run"),
                Measurement("memory limit", data.limit_bytes, "bytes", "run"),
                Measurement("peak share of the limit", share, "share", "run"),
                *(
                    [Measurement("steps until the limit", data.steps_to_limit, "count", "run")]
                    if data.steps_to_limit is not None
                    else []
                ),
            ),
            advice="Make batches, shuffle buffers and caches smaller. Or: read the data in pieces, with tf.data.",
        )
    for device in data.devices:
        if device.limit_bytes and device.peak_bytes >= NEAR.value * device.limit_bytes:
            share = device.peak_bytes / device.limit_bytes
            yield Finding(
                code="MEM003",
                severity="high" if share >= GRAVE.value else "medium",
                basis="risk",
                title=f"{device.device} memory peaks close to its limit",
                share_of_step=0.0,
                evidence=(
                    Measurement("peak memory", device.peak_bytes, "bytes", "run"),
                    Measurement("memory limit", device.limit_bytes, "bytes", "run"),
                    Measurement("peak share of the limit", share, "share", "run"),
                ),
                advice="Make the batch smaller. Or: use mixed precision, or gradient accumulation.",
            )
