"""Limits of the machine in a trace, by the properties that its profiler wrote down.

Operations per cycle and multiprocessor: NVIDIA's architecture white papers (Volta, Turing, Ampere, Ada, Hopper) and
AMD's CDNA 3 white paper. Tensor cores: dense, 16-bit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tfperfkit.offers.recorded_trace import Machine
from tfperfkit.reading.activity import Label
from tfperfkit.reading.numbers import LAUNCH_PS, ROOF_SHARE

#: By compute capability: floating-point operations per cycle and multiprocessor, in 32 bits and on tensor cores.
_NVIDIA = {
    (6, 0): (128, 0),
    (6, 1): (256, 0),
    (7, 0): (128, 1024),
    (7, 5): (128, 1024),
    (8, 0): (128, 2048),
    (8, 6): (256, 1024),
    (8, 9): (256, 1024),
    (9, 0): (256, 4096),
}
_AMD = {(9, 0): (128, 1024), (9, 4): (256, 2048)}
_TENSOR_KERNEL = re.compile(
    r"[hi]mma|wgmma|_s?884|h884|s884|1688|16816|_MI\d+x\d+|tensorop|nvjet|xmma_(?:gemm|fprop|dgrad|wgrad)_(?!f32f32_f32)",
    re.IGNORECASE,
)
_GATHER = re.compile(r"gather|scatter|\bsort|unique|embedding_?lookup|UnsortedSegment|SparseSegment", re.IGNORECASE)


def machine_of(stats: Mapping[str, Any]) -> Machine:
    """From the statistics of a device's plane."""
    vendor = str(stats.get("device_vendor") or ("NVIDIA" if "compute_cap_major" in stats else ""))
    clock, count = _positive(stats.get("clock_rate")), _positive(stats.get("core_count"))
    major, minor = stats.get("compute_cap_major"), stats.get("compute_cap_minor")
    capability = (int(major), int(minor) if isinstance(minor, int) else 0) if isinstance(major, int) else None
    table = _AMD if vendor == "AMD" else _NVIDIA
    per_cycle = table.get(capability) if capability is not None else None
    cycles = clock * 1e3 * count if clock and count else None
    memory = _positive(stats.get("memory_size"))
    peak = _positive(stats.get("peak_teraflops_per_second"))  # a TPU says it itself
    return Machine(
        vendor=vendor,
        multiprocessors=int(count) if count else None,
        clock_mhz=clock / 1e3 if clock else None,
        memory_bytes=int(memory) if memory else None,
        memory_bytes_per_s=_positive(stats.get("memory_bandwidth"))
        or _scaled(_positive(stats.get("peak_hbm_bw_gigabytes_per_second")), 1e9),
        capability=capability,
        flops_per_s=cycles * per_cycle[0] if cycles and per_cycle else None,
        tensor_flops_per_s=_scaled(peak, 1e12)
        or (cycles * per_cycle[1] if cycles and per_cycle and per_cycle[1] else None),
    )


def uses_tensor_cores(label: Label) -> bool:
    """Tell by the kernel's name whether it uses tensor cores, as XProf does."""
    return _TENSOR_KERNEL.search(label.kernel) is not None


def bound_by(label: Label, mean_ps: float, machine: Machine) -> str:
    """ "compute", "memory", "gather", "launch"; "" if the trace does not tell."""
    seconds = mean_ps / 1e12
    peak = machine.tensor_flops_per_s if uses_tensor_cores(label) else machine.flops_per_s or machine.tensor_flops_per_s
    bandwidth = machine.memory_bytes_per_s
    compute = label.flops / peak / seconds if peak and seconds else 0.0
    memory = label.bytes / bandwidth / seconds if bandwidth and seconds else 0.0
    if max(compute, memory) >= ROOF_SHARE.value:
        return "compute" if compute > memory else "memory"
    if _GATHER.search(f"{label.kernel} {label.type} {label.instruction}"):
        return "gather"
    return "launch" if mean_ps <= LAUNCH_PS.value else ""


def occupancy(label: Label) -> float | None:
    """Return the theoretical occupancy of a kernel (0 to 1); None if it was not recorded."""
    match = re.search(r"occ_pct:([\d.]+)", label.details)
    return float(match[1]) / 100 if match and float(match[1]) > 0 else None


def _positive(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _scaled(value: float | None, factor: float) -> float | None:
    return value * factor if value is not None else None
