"""What this machine can compute, measured by a short matrix product after the script has ended."""

from __future__ import annotations

import math
import time
from contextlib import suppress

from tfperfkit.recording.environment import processors
from tfperfkit.storage.run_directory import RunDirectory

#: Rows and columns: 2 GFLOP a product, 12 MB, which runs at the library's best speed and takes 5 to 30 ms on two cores.
_SIZE = 1024
_BUDGET_S = 0.25


def measure(directory: RunDirectory) -> None:
    """Measure, unless that fails: the script has run, and nothing of ours may change how it ended."""
    with suppress(Exception, KeyboardInterrupt):
        _measure(directory)


def _measure(directory: RunDirectory) -> None:
    """Write ``machine.json``: ``float32_gflops``, the best of a few products on all processors that we may use.

    By processor time, times the processors: by the clock other programs would slow it down up to ten times.
    A CPU's figure only: the parent has no TensorFlow. Nothing is written when the run has no agent (no TensorFlow).
    """
    if directory.read_json("agent.json") is None or directory.read_json("machine.json") is not None:
        return
    import numpy as np

    left = np.full((_SIZE, _SIZE), 0.5, np.float32)
    right = np.full((_SIZE, _SIZE), 0.25, np.float32)
    out = np.empty_like(left)
    best = math.inf
    begun = time.perf_counter()
    while time.perf_counter() - begun < _BUDGET_S or best == math.inf:
        start = time.process_time()
        np.matmul(left, right, out=out)
        best = min(best, time.process_time() - start)
    best /= processors()
    gflops = 2 * _SIZE**3 / best / 1e9
    directory.write_json("machine.json", {"float32_gflops": gflops, "of": "NumPy, float32 matrix product"})
