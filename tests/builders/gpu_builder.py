"""A made trace of two GPUs, with the planes, lines and statistics that TensorFlow's profiler writes for NVIDIA's.

Steps of 10 ms on each GPU, in µs from the step's begin:

    0..2000     idle: the host waits for input until 1900 and launches at 1950
    2000..6000  gemm_kernel (replica_N/model/dense/MatMul)
    6004..8000  relu_kernel (replica_N/model/relu/Relu), queued behind it: 4 µs between kernels
    8000..8500  idle: the host is in Python (a frame of train.py) until it launches at 8450
    8500..9500  a collective; on GPU:1 100 µs shorter, for it begins later
    9500..9600  copy to the host, of 4000 bytes, synchronous
    9600..10000 idle, nothing recorded on the host
"""

from __future__ import annotations

from typing import Any

from xspace_builder import PlaneBuilder, SpaceBuilder

GEMM = "volta_sgemm_128x64_nn"
RELU = "void relu_kernel<float>(int, float*)"
REDUCE = "ncclKernel_AllReduce_RING_LL_Sum_float"
STEP_US = 10_000
NS = 1000


def gpu_trace(steps: int = 5, *, marked: bool = True, grouped: bool = False, host: bool = True) -> SpaceBuilder:
    """``marked``: step markers on the host; ``grouped``: the profiler's own line of steps."""
    builder = SpaceBuilder()
    if host:
        _host(builder.plane("/host:CPU"), steps, marked)
    for number in range(2):
        _gpu(builder.plane(f"/device:GPU:{number}"), number, steps, grouped)
    return builder


def _host(plane: PlaneBuilder, steps: int, marked: bool) -> None:
    python: list[tuple[Any, ...]] = []
    launches: list[tuple[Any, ...]] = []
    for step in range(steps):
        at = step * STEP_US * NS
        if marked:
            python.append(("train", at, STEP_US * NS, {"step_num": step, "_r": 1}))
        python.append(("IteratorGetNext:IteratorGetNext", at, 1900 * NS))
        python.append(("$train.py:31 update_metrics", at + 7000 * NS, 1450 * NS))
        for gpu in range(2):
            for index, when in enumerate((1950, 2500, 8450, 8460)):
                number = 1 + (step * 2 + gpu) * 10 + index
                launches.append(("cuLaunchKernel", at + (when + gpu) * NS, 5 * NS, {"correlation_id": number}))
    plane.line("python", *python)
    plane.line("tf_gpu_private/1", *sorted(launches, key=lambda event: event[1]))


def _gpu(plane: PlaneBuilder, gpu: int, steps: int, grouped: bool) -> None:
    scope = f"replica_{gpu}" if gpu else "replica_0"
    compute: list[tuple[Any, ...]] = []
    copies: list[tuple[Any, ...]] = []
    for step in range(steps):
        at = step * STEP_US * NS
        number = 1 + (step * 2 + gpu) * 10
        details = "regs:122 static_shared:0 dynamic_shared:0 grid:40,1,1 block:128,1,1 occ_pct:25"

        def stats(index: int, op: str, number: int = number, details: str = details) -> dict[str, Any]:
            return {
                "correlation_id": number + index,
                "tf_op": f"{scope}/{op}",
                "kernel_details": details,
                "group_id": 0,
            }

        compute.append((GEMM, at + 2000 * NS, 4000 * NS, stats(0, "model/dense/MatMul:MatMul")))
        compute.append((RELU, at + 6004 * NS, 1996 * NS, stats(1, "model/relu/Relu:Relu")))
        late = 100 * gpu
        compute.append(
            (REDUCE, at + (8500 + late) * NS, (1000 - late) * NS, stats(2, "Adam/NcclAllReduce:NcclAllReduce"))
        )
        details = f"kind_src:device kind_dst:pageable size:4000 dest:{gpu} async:0"
        copies.append(
            ("MemcpyD2H", at + 9500 * NS, 100 * NS, {"correlation_id": number + 3, "memcpy_details": details})
        )
    plane.line("Stream #7(Compute)", *compute, number=7)
    plane.line("Stream #8(MemcpyD2H)", *copies, number=8)
    if grouped:
        marks = [(str(step), step * STEP_US * NS, STEP_US * NS, {"group_id": step}) for step in range(steps)]
        plane.line("Steps", *marks, number=100)
    properties = {
        "clock_rate": 1_530_000,
        "core_count": 80,
        "memory_bandwidth": 898_048_000_000,
        "memory_size": 16_945_512_448,
        "compute_cap_major": 7,
        "compute_cap_minor": 0,
    }
    plane.stats(plane.message.stats, properties)
