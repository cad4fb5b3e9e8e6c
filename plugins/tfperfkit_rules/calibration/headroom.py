"""Numbers of the model of a compiled step: what grows with the batch, and what is offered as headroom."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Cited, Measured, Threshold
from tfperfkit_rules.calibration.machines import TWO_BUSY_CORES

DIVIDING_MS = Threshold(
    0.05,
    "ms",
    "of a run of a product or a convolution, what does not depend on its size, at most: dividing it among threads, "
    "laying out its operands",
    Measured(
        "a product of 32 rows by 100 x 512 took 0.05 to 0.09 ms, of which its arithmetic is 0.015", TWO_BUSY_CORES, 2
    ),
)
WEIGHT_BYTES = Threshold(
    4,
    "bytes",
    "of a weight, which a product reads once whatever the batch",
    Cited("float32, Keras' default"),
)
#: Times the batch that are looked at: beyond eight the learning changes too much for a mere try.
TIMES = (2, 4, 8)
MAX_EXAMPLES = Threshold(
    1024,
    "examples",
    "of a batch, for the largest that is offered",
    Cited(
        "Keskar et al. 2017, arXiv 1609.04836: from some thousand examples on networks generalise less; up to 1,000 "
        "is common in tutorials"
    ),
)
NEARLY_ALL = Threshold(
    0.8,
    "share",
    "of what the largest batch gains, for a smaller one to be offered in its place",
    Chosen("the change of the training is the price: the smallest batch that does nearly as well"),
)
MIN = Threshold(
    1.1, "number", "a smaller factor is no headroom", Chosen("runs of one script differ by as much on a shared machine")
)
GAIN_MIN = Threshold(
    0.75,
    "number",
    "of what the model says a choice gains beyond 1, at least",
    Measured("measured over predicted 0.7 to 1.4 in 8 scripts, docs/design/0019", TWO_BUSY_CORES, 24),
)
GAIN_MAX = Threshold(1.35, "number", "the same at most", Measured("see GAIN_MIN", TWO_BUSY_CORES, 24))
WIDEST = Threshold(
    2.5,
    "number",
    "upper over lower end of a range, beyond which only the lower end is reported",
    Chosen("a wider one tells nobody whether to try"),
)
MIN_STEPS = Threshold(
    100, "steps", "of a run, with fewer nothing is offered", Chosen("a training loop has more, a test run fewer")
)
TOGETHER = Threshold(
    32, "steps", "in one call, as offered", Chosen("what is left of the cost of a call is 3 %, and logs stay readable")
)
CALL_GONE_MIN = Threshold(
    0.5,
    "share",
    "of what lies around the compiled step, what goes with many steps in a call, at least; at most all of it goes",
    Measured("with 32 steps in a call 8 scripts gained 1.06 to 1.9 times: 0.5 to 1.4 of it", TWO_BUSY_CORES, 8),
)
GAPS_GONE = Threshold(
    0.5,
    "share",
    "of the time between operations of the compiled step, what goes too, at most: the start and the end of the call",
    Measured("see CALL_GONE_MIN", TWO_BUSY_CORES, 8),
)
CALL_START_MS = Threshold(
    0.3,
    "ms",
    "of the time between operations, what the call of a compiled function itself takes, by XLA too",
    Measured(
        "0.33 ms in a step of three small layers, which took as long by XLA",
        TWO_BUSY_CORES,
        1,
    ),
)
STARTING_SHARE = Threshold(
    0.25,
    "share",
    "of a compiled step in starting operations, from which XLA is worth a try",
    Measured("2.1 of 3.1 ms and 4.7 of 13.3 gained 1.8 and 1.9 times, 0.5 of 4.7 ms gained 1.1", TWO_BUSY_CORES, 4),
)
HEAVY_SHARE = Threshold(
    0.4,
    "share",
    "of a compiled step in products and convolutions, beyond which XLA is not offered",
    Measured("0.6 and 0.7 of a step there got 0.56 times as fast by XLA, 0.2 and 0.35 1.8 and 1.9", TWO_BUSY_CORES, 4),
)
UPDATE_SHARE = Threshold(
    0.2,
    "share",
    "of the step in updates of weights, from which they are reported",
    Cited("XProf: a high share of a step"),
)
