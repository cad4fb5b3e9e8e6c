"""DEV006, MEM004: the system throttles the script's CPU time, or swaps its memory to disk.

Both are the kernel's own figures: the time in which the control group was throttled; bytes in swap at the end of the
run, and pages read from disk.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Part, price
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared

TITLES = {
    "DEV006": "Container CPU quota throttles the script",
    "MEM004": "Process memory is swapped to disk",
}
MIN_THROTTLED = Threshold(
    0.05,
    "share",
    "minimum share of CPU time in which a quota held the script back",
    Chosen("a quota that is reached now and then costs a twentieth"),
)
MIN_SWAPPED = Threshold(
    64 << 20,
    "bytes",
    "minimum size of a process in swap, for it to be short of memory",
    Chosen("any process leaves as much in swap that it does not use"),
)
SWAP_FAULTS = Threshold(
    20.0,
    "1/s",
    "minimum rate of pages read from disk over the whole run, for a process in swap to wait for them",
    Derived("a page takes 0.1 ms from a fast disk to 10 ms from a slow one: a fifth of the time at worst"),
)


def throttled(evidence: Evidence) -> Iterator[Finding]:
    """DEV006: the quota of the control group (a container's CPU limit) stopped the script."""
    machine, wall_s = evidence.run.machine, evidence.run.wall_s
    stopped, quota = machine.get("throttled_ns"), machine.get("quota_cpus")
    if not isinstance(stopped, (int, float)) or not isinstance(quota, (int, float)) or wall_s <= 0:
        return
    # The kernel adds up what it held back on each processor.
    share = min(1.0, stopped / 1e9 / (wall_s * evidence.cpus))
    if share < MIN_THROTTLED.value:
        return
    yield Finding(
        code="DEV006",
        title=f"Container CPU quota of {quota:.3g} cores throttles the script: {100 * share:.0f} % of the run",
        basis="run",
        share_of_step=share,
        gain=price(Rewrite(), Part(shared.MOSTLY.value * share, share)),  # with more cores; fewer threads save less
        evidence=(
            Measurement("time throttled, over all CPU cores", stopped / 1e9, "s", "run"),
            Measurement("CPU quota", float(quota), "cores", "run"),
            Measurement("CPU cores that the script sees", float(evidence.cpus), "count", "run"),
        ),
        advice=(
            "Give the container more CPU cores: docker run --cpus, or resources.limits.cpu. Or: limit TensorFlow's "
            f"threads to the quota: tf.config.threading.set_intra_op_parallelism_threads({max(1, round(quota))}), and "
            "the same for inter_op, at the start of the script."
        ),
        detail="TensorFlow starts a thread for each CPU core that it sees, and together they use up the quota.",
    )


def swapping(evidence: Evidence) -> Iterator[Finding]:
    """MEM004: parts of the process's memory are in swap, and pages come back from the disk again and again."""
    machine, wall_s = evidence.run.machine, evidence.run.wall_s
    swapped, faults = machine.get("swapped_bytes"), machine.get("major_faults")
    if not isinstance(swapped, int) or not isinstance(faults, int) or wall_s <= 0:
        return
    if swapped < MIN_SWAPPED.value or faults / wall_s < SWAP_FAULTS.value:
        return
    yield Finding(
        code="MEM004",
        title=TITLES["MEM004"],
        severity="high",
        basis="risk",
        share_of_step=0.0,
        evidence=(
            Measurement("memory in swap at the end", float(swapped), "bytes", "run"),
            Measurement("pages read from disk", float(faults), "count", "run"),
            Measurement("pages read from disk per second", faults / wall_s, "1/s", "run"),
        ),
        advice=(
            "Use less memory: smaller batches, shuffle buffers and caches, or data read in pieces (tf.data, "
            "np.memmap). Or: close other programs on the machine."
        ),
        detail="Each page fault blocks a thread until the disk read completes.",
    )
