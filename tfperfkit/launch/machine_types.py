"""Rate of bfloat16 matmuls on a processor that has instructions for them, next to the rate of float32.

NumPy has no such numbers, so TensorFlow is asked, in a process of its own: some seconds, once for each machine, and
nothing at all where the processor has no such instructions.
"""

from __future__ import annotations

import math
import subprocess
import sys
from contextlib import suppress

#: How the kernel calls them: of Intel and AMD, and of ARM.
_INSTRUCTIONS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
_TIMEOUT_S = 60
#: Products of what a layer of a thousand does, each so often; the fastest counts.
_MEASURE = """
import time
import tensorflow as tf
best = []
with tf.device("/CPU:0"):
    for kind in (tf.float32, tf.bfloat16):
        left = tf.cast(tf.fill([1024, 1024], 0.5), kind)
        runs = []
        for _ in range(16):
            begun = time.perf_counter()
            tf.matmul(left, left).numpy()
            runs.append(time.perf_counter() - begun)
        best.append(min(runs))
print("times", best[0] / best[1])
"""


def has_bfloat16() -> bool:
    """Return whether the processor says that it multiplies 16-bit numbers; False if the system does not tell."""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.strip() in ("flags", "Features"):
                return not _INSTRUCTIONS.isdisjoint(value.split())
    return False


def bfloat16_times() -> float | None:
    """Return how many times as fast a product is in bfloat16 as in float32; None if it can't be measured."""
    with suppress(OSError, subprocess.SubprocessError, ValueError, IndexError):
        done = subprocess.run(
            [sys.executable, "-c", _MEASURE], capture_output=True, text=True, timeout=_TIMEOUT_S, check=True
        )
        found = float(done.stdout.split("times")[-1])
        return found if math.isfinite(found) and found > 0 else None
    return None
