"""Numbers of the rules about work in graphs of which less would do, and about padded sequences."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit_rules.measures.machines import TWO_BUSY_CORES

# Work of which far less would give the same result.
MIN_WASTE = Threshold(
    2 * calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step in such work",
    Derived("twice XProf's moderate share of one part of a step: not all of it goes"),
)
WASTE_MIN_SAVED = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step that goes with it at least: less is no fault",
    Derived("XProf's moderate share of one part of a step"),
)
WASTE_SAVED_MIN = Threshold(
    0.85,
    "share",
    "of what should go with such work, what goes at least: operations ran beside others",
    Measured(
        "in 12 of 13 pairs of runs 0.83 to 1.36 of the operations' share of the step went, in one 1.8: on a busy "
        "machine mostly more than the share, for the rest of the step waits less",
        TWO_BUSY_CORES,
        13,
    ),
)
BEYOND_CACHE = Threshold(
    32e6,
    "bytes",
    "that an operation reads and writes in a run, from which it leaves nothing of the others' in the caches",
    Chosen("last levels of desktop and server processors hold 8 to 64 MB, shared by all cores"),
)
REST_LEFT_MIN = Threshold(
    0.5,
    "share",
    "minimum share of the rest of a step that remains when such operations go, and their memory with them",
    Measured(
        "0.51 to 2.1 (10th to 90th percentile), median 0.80: elementwise work, a dense layer and an update on 1 MB "
        "each, behind operations that move 128 and 256 MB, at a load of 15",
        TWO_BUSY_CORES,
        72,
        "behind_memory",
    ),
)
WITH_GRADIENT = Threshold(
    3,
    "number",
    "times the forward arithmetic, forward and backward",
    Derived("a product's gradient is two products of its size, one for each operand"),
)
WASTE_LEFT_MIN = Threshold(
    0.5, "number", "of the part of the work that should be left, what is left at best", Chosen("half")
)
WASTE_LEFT_MAX = Threshold(2.0, "number", "the same at worst: smaller operations run at a lower rate", Chosen("twice"))
MUCH_BESIDE = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "of the step in clipping by a norm or in averages of weights, from which that is a finding and no mere headroom",
    Derived("both are done on purpose; XProf's high share of one part of a step"),
)
USUAL_GFLOPS = Threshold(
    50.0, "GFLOP/s", "of a float32 product, where the machine was not measured", Chosen("a core of this decade")
)

_PADDED = Measured(
    "reviews of 32 words in the mean, padded to 256, through a bidirectional LSTM, and batches of like length: 224 and "
    "110 ms a step, 15.7 and 5 s of processor time in all",
    TWO_BUSY_CORES,
    2,
)
PADDING_SAVED_MIN = Threshold(
    0.6, "share", "of what grows with the sequences, by as much as they are shorter: what at least is saved", _PADDED
)
PADDING_SAVED_MAX = Threshold(
    0.95, "share", "of what grows with the sequences, by as much as they are shorter: what at most is saved", _PADDED
)
PADDING_MIN = Threshold(
    0.1,
    "share",
    "of the step that batches of like length save at least, for a finding",
    Chosen("a tenth; it asks for another pipeline"),
)
PADDING_LEFT_MIN = Threshold(
    1.05,
    "number",
    "times the mean length, that batches of like lengths are long, at best",
    Derived(
        "of 4,000 lengths sorted into batches of 32: 1.01 evenly from 10 to 60, 1.03 with a long tail (log-normal)"
    ),
)
PADDING_LEFT_MAX = Threshold(
    1.8,
    "number",
    "the same at worst",
    Derived("the same lengths shuffled within four buckets by quartiles: 1.17 and 1.81"),
)
