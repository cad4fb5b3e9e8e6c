"""Numbers of the rules about devices, threads and what waits for them."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit_rules.calibration.machines import TWO_BUSY_CORES

WAIT_MEDIUM = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "of the step, waiting for a value: from here on more than a remark",
    Derived("the least share that a finding is made for"),
)
WAIT_HIGH = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "of the step, waiting for a value: severity high",
    Derived("a high share, as XProf has it for one part of a step"),
)
ONCE_A_STEP = Threshold(
    0.05, "number", "reads a step that differ from 1 by less are one in every step", Chosen("a step more or less of 20")
)
COPY_BYTES = Threshold(
    1_000_000,
    "bytes",
    "copied a step between devices: less is a remark only",
    Chosen("0.1 ms over PCI Express 3 with 16 lanes (some 12 GB/s), what a call of a compiled function takes"),
)
MANY_THREADS = Threshold(
    4,
    "number",
    "threads for each processor, from which on a remark is made",
    Measured("with 8 for each nothing lost that stood out of the noise", TWO_BUSY_CORES, None),
)
SCALES_MIN = Threshold(
    0.3,
    "share",
    "of an even division of the work, what more processors save at worst",
    Chosen("two processors rarely gain less than a third of what dividing by two promises"),
)
ONEDNN_MIN = Threshold(
    0.15,
    "share",
    "of convolutions, products and pooling without oneDNN, what oneDNN saves at least",
    Measured(
        "convolutions took 1.4 to 3.2 times as long without it, products 1.1 to 3.2 times, a step of fit 1.7 and 2.4 "
        "times in two pairs: 0.09 to 0.69 saved",
        TWO_BUSY_CORES,
        None,
        "onednn",
    ),
)
ONEDNN_MAX = Threshold(
    0.9,
    "share",
    "of convolutions, products and pooling without oneDNN, what oneDNN saves at most",
    Measured(
        "see ONEDNN_MIN; layouts and fused operations save more than a kernel alone", TWO_BUSY_CORES, None, "onednn"
    ),
)
MIN_THROTTLED = Threshold(
    0.05,
    "share",
    "of the processors' time in which a quota held the script back, from which on it is reported",
    Chosen("a twentieth is what a quota costs that is met now and then"),
)
MUCH_THROTTLED = Threshold(
    0.2, "share", "the same, from which on it is grave", Chosen("a fifth of the run is a high share of anything")
)
MIN_SWAPPED = Threshold(
    64 << 20,
    "bytes",
    "of a process in swap, from which on it may be short of memory",
    Chosen("less is what any process leaves there that does not run"),
)
SWAP_FAULTS = Threshold(
    20.0,
    "1/s",
    "pages read from a disk over the whole run, from which on a process in swap waits for them",
    Derived("a page takes 0.1 ms from a fast disk to 10 ms from a slow one: a fifth of the time at worst"),
)
