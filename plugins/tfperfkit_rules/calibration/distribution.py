"""Numbers of the rules about several devices and processes."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit_rules.calibration.machines import TWO_BUSY_CORES

GATHERED_TIMES = Threshold(
    2.0,
    "ratio",
    "bytes of gathered rows over those of the summed table, from which on gathering is reported",
    Chosen("at twice the bytes the sum is worth it though making it dense takes a pass over the table"),
)
GATHER_SAVED_MIN = Threshold(
    0.5,
    "share",
    "of gathering rows and updating by them, what a sum that is that much smaller saves at least",
    Measured("a step with a share of 0.42 went from 65.1 to 40.6 ms: 0.9 of it went", TWO_BUSY_CORES, 1),
)
ALL_TRAINED = Threshold(
    0.99,
    "share",
    "of all that is trained, in the sums of a step: then the tables are among it",
    Derived("all of it, but for rounding"),
)
DENSE_TIMES = Threshold(
    4.0,
    "ratio",
    "bytes of the summed table over those of gathered rows, from which on the sum is reported",
    Chosen("rows come with indices, their number first, and repeat; at four times that does not matter"),
)
DENSE_EXCHANGE_MIN = Threshold(
    0.5,
    "share",
    "of exchanging and updating whole tables, what rows save at least",
    Measured("a step with a share of 0.39 went from 159 to 79 ms: 1.3 of it went", TWO_BUSY_CORES, 1),
)
MANY_EXCHANGES = Threshold(
    8,
    "number",
    "collective operations that don't need each other, from which on they are reported",
    Chosen("a handful of values, a loss and metrics, is what a step exchanges by the way"),
)
SMALL_EXCHANGE = Threshold(
    1 << 20,
    "bytes",
    "in a collective operation: what is larger takes its time for the bytes",
    Derived("0.1 ms at 10 GB/s, some times what starting an exchange takes"),
)
PACKED_MIN = Threshold(
    0.5,
    "share",
    "of small collective operations, what packing them saves at least",
    Measured(
        "a step with a share of 0.13 went from 208 to 61 ms: more than all of it, for operations wait where they stand",
        TWO_BUSY_CORES,
        1,
    ),
)
INDEX_BYTES = Threshold(8, "bytes", "of the number of a row, as it is gathered", Derived("a 64-bit integer"))

_STRATEGY = Measured(
    "steps of two small networks, processor time with MirroredStrategy on one device and without: 2.7 and 1.5 ms "
    "(fit), 2.6 and 0.9 ms (a loop), nearly all of it outside of the compiled step",
    TWO_BUSY_CORES,
    4,
)
STRATEGY_SAVED_MIN = Threshold(0.4, "share", "of what such a step pays beside its compiled part, saved", _STRATEGY)
STRATEGY_SAVED_MAX = Threshold(0.8, "share", "of what such a step pays beside its compiled part, saved", _STRATEGY)
STRATEGY_MIN_SHARE = Threshold(
    0.05, "share", "of the step that its absence saves at least, for more than a remark", Chosen("what repeats show")
)
DIVIDED_MIN_GAIN = Threshold(
    1.3,
    "number",
    "the factor for examples a second, at least, from which on a batch that replicas divide is reported",
    Chosen("a larger batch is another training: less is no fault, and stands as headroom"),
)
MADE_BY_ALL_MIN = Threshold(
    0.05,
    "share",
    "of a step that waits for examples which other workers drop, from which on it is reported",
    Chosen("what repeats show"),
)
MADE_BY_ALL_SAVED = Threshold(
    0.5,
    "share",
    "of the waiting for examples which other workers drop, what is taken for saved in the severity",
    Chosen("the middle between nothing and all of it: dividing also takes work off the other stages"),
)
UNEVEN_SERVERS = Threshold(
    1.5,
    "ratio",
    "bytes of variables on the parameter server with most over the mean, from which on it is reported",
    Chosen("with two servers three quarters on one of them; variables of ordinary sizes come out more even by turns"),
)
