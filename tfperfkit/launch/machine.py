"""Compute rates of this machine, measured after the script has ended, until they are known: see ``machine_limits``."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tfperfkit.config import limits_file
from tfperfkit.launch.machine_types import bfloat16_times, has_bfloat16
from tfperfkit.recording.environment import processors
from tfperfkit.storage.machine_limits import UNKNOWN, load, make_key, store
from tfperfkit.storage.run_directory import RunDirectory

#: Rows and columns: 2 GFLOP a product, 12 MB, which runs at the library's best speed and takes 5 to 30 ms on two cores.
_SIZE = 1024
_BUDGET_S = 0.25
#: The first runs fill caches and start threads.
_MIN_RUNS = 8
#: A product had the processors for itself when its threads ran for so much of the time. On a busy machine some wait and
#: the others spin: 16 GFLOP/s were read for 200, both by wall-clock time and by processor time.
_UNDISTURBED = 0.9
#: On a busy machine a run takes seconds, and tells nothing: then only so many.
_MAX_S, _ANYHOW = 1.0, 2
#: Looks at who else wants a processor, and the time between them.
_LOOKS, _PAUSE_S = 3, 0.005
#: Numbers that are copied: 64 MB, more than caches hold.
_COPIED = 1 << 24
_COPY_BUDGET_S = 0.1


def measure(directory: RunDirectory) -> None:
    """Measure, unless that fails: the script has run, and nothing of ours may change how it ended."""
    with suppress(Exception, KeyboardInterrupt):
        _measure(directory)


def _measure(directory: RunDirectory) -> None:
    """Write the run's ``machine.json``: ``float32_gflops`` and ``copy_gb_per_s``, the best that is known of this
    machine, ``measured`` how often, ``now_gflops`` of this time; ``bfloat16_times``: see ``machine_types``;
    ``costs``: see ``doctor.trial``.

    A CPU's figures only: the parent has no TensorFlow. Nothing is written when the run has no agent (no TensorFlow).
    """
    agent = directory.read_json("agent.json")
    if not isinstance(agent, dict) or directory.read_json("machine.json") is not None:
        return
    versions = agent.get("versions")
    name = make_key(processors(), versions if isinstance(versions, dict) else {})
    path = limits_file()
    limits = load(path).get(name, UNKNOWN)
    now: dict[str, Any] = {}
    gflops = None if limits.steady or _is_busy() else _product_gflops()
    if gflops is not None:
        now["now_gflops"] = gflops
        limits = limits.with_one_more(gflops, _copy_gb_per_s())
        with suppress(OSError):
            store(path, name, limits)
    if limits.float32_gflops and limits.bfloat16_times is None and has_bfloat16() and not _is_busy():
        times = bfloat16_times()
        if times is not None:
            limits = limits.with_bfloat16(times)
            with suppress(OSError):
                store(path, name, limits)
    directory.write_json(
        "machine.json",
        {
            "float32_gflops": limits.float32_gflops[0] if limits.float32_gflops else None,
            "copy_gb_per_s": limits.copy_gb_per_s[0] if limits.copy_gb_per_s else None,
            "bfloat16_times": limits.bfloat16_times,
            "costs": limits.costs,
            "measured": limits.measured,
            "steady": limits.steady,
            "of": "NumPy, float32 matrix product; a copy by one processor",
            **now,
        },
    )


def _is_busy() -> bool:
    """Return whether others keep wanting processors, by the kernel's count of who does; where it tells. tfperf's own
    process is one of these.
    """
    wanting = []
    for _ in range(_LOOKS):
        time.sleep(_PAUSE_S)
        try:
            with open("/proc/loadavg", encoding="ascii") as file:
                wanting.append(int(file.read().split()[3].partition("/")[0]))
        except (OSError, ValueError, IndexError):
            return False
    return min(wanting) - 1 > (1 - _UNDISTURBED) * processors()


def _product_gflops() -> float | None:
    """Return the rate of the fastest run that had the CPU cores for itself; None if no run had, since the rate is then
    unknown.
    """
    import numpy as np

    left = np.full((_SIZE, _SIZE), 0.5, np.float32)
    right = np.full((_SIZE, _SIZE), 0.25, np.float32)
    out = np.empty_like(left)
    runs = _runs(lambda: np.matmul(left, right, out=out), _BUDGET_S)
    alone = [wall for wall, used in runs if used >= _UNDISTURBED * wall * processors()]
    return 2 * _SIZE**3 / min(alone) / 1e9 if alone else None


def _copy_gb_per_s() -> float:
    """Return the bytes read and written, by one processor."""
    import numpy as np

    source = np.zeros(_COPIED, np.float32)
    target = np.ones_like(source)
    return 2 * source.nbytes / min(used for _, used in _runs(lambda: np.copyto(target, source), _COPY_BUDGET_S)) / 1e9


def _runs(work: Callable[[], object], budget_s: float) -> list[tuple[float, float]]:
    """Return wall-clock and processor time, in seconds, of ``_MIN_RUNS`` runs or more; fewer if these take long."""
    runs: list[tuple[float, float]] = []
    begun = time.perf_counter()
    while len(runs) < _ANYHOW or time.perf_counter() - begun < (budget_s if len(runs) >= _MIN_RUNS else _MAX_S):
        wall, used = time.perf_counter(), time.process_time()
        work()
        runs.append((time.perf_counter() - wall, time.process_time() - used))
    return runs
