"""Numbers that several families of rules use: the costs of TensorFlow on a processor, and bounds of what counts."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit_rules.measures.machines import MEASURED_ON, MEASURED_QUIET, TWO_BUSY_CORES

# The cost of TensorFlow's own work.
GRAPH_OP_MIN_MS = Threshold(
    0.0007,
    "ms",
    "minimum time of an operation of a compiled function on little data, after pruning and folding",
    Measured(
        "0.4 to 1.9 us (10th to 90th percentile), median 0.55, in chains and small training steps; 0.17 in "
        "chains in the machine's best hour; by hand 1.1 us in steps of 729 and 942 former eager operations",
        MEASURED_QUIET,
        15,
        "graph_op",
    ),
)
GRAPH_OP_MAX_MS = Threshold(
    0.004,
    "ms",
    "maximum time of an operation of a compiled function on little data",
    Measured("up to 4 us each with other work on the CPU", TWO_BUSY_CORES, None, "graph_op"),
)
FUNCTION_CALL_MIN_MS = Threshold(
    0.2,
    "ms",
    "minimum time of a call of a compiled function from Python",
    Measured("0.13 to 0.35 ms (10th to 90th percentile), median 0.17", MEASURED_ON, 20, "function_call"),
)
FUNCTION_CALL_MAX_MS = Threshold(
    1.0,
    "ms",
    "maximum time of a call of a compiled function from Python, with its arguments to bind",
    Measured(
        "0.35 ms at the 90th percentile; 0.3 to 1 ms by hand on a busier machine, 4.0 at a load of 14",
        MEASURED_ON,
        20,
        "function_call",
    ),
)
FETCH_MS = Threshold(
    0.1,
    "ms",
    "time to take a batch that is ready: a shorter wait can't be saved",
    Measured("0.025 to 0.032 ms; 0.05 to 0.08 by hand, up to 0.23 at a load of 14", MEASURED_ON, 15, "fetch"),
)
SMALL_OPERATION = Threshold(
    3.0,
    "number",
    "maximum ratio of a matmul on small tensors, with its threads and caches, to a minimal operation",
    Measured(
        "up to 3 times, of the operations in traces of steps on small tensors", TWO_BUSY_CORES, None, "small_operation"
    ),
)
TINY_OPERATIONS = Threshold(
    0.25,
    "share",
    "share of the operations, shortest first, of which the longest takes as long as a minimal operation",
    Chosen("reads of variables, shapes and constants are more than a quarter of every step's operations"),
)
DIVIDED_MS = Threshold(
    0.1,
    "ms",
    "maximum time of an operation that is not divided among threads",
    Cited(
        "Eigen, unsupported/Eigen/CXX11/src/Tensor/TensorCostModel.h: a second thread from 2.1 times 100,000 cycles "
        "(kStartupCycles, kPerThreadCycles), which take 0.1 ms at 2.1 GHz"
    ),
)
RATE_MIN = Threshold(
    0.7,
    "number",
    "minimum ratio of the FLOP rate of a compiled step without XLA to that of NumPy's float32 matmul",
    Measured(
        "0.59 to 3.2, median 0.77; nine runs by hand gave 0.85 to 3.5, but 9 and 11 where the matmul was measured "
        "under more load",
        MEASURED_ON,
        10,
        "arithmetic_rate",
    ),
)
RATE_MAX = Threshold(
    3.0,
    "number",
    "maximum ratio of the FLOP rate of a compiled step without XLA to that of NumPy's float32 matmul",
    Measured("see RATE_MIN", MEASURED_ON, 10, "arithmetic_rate"),
)
MEMORY_MIN_BYTES = Threshold(
    12e6,
    "bytes/ms",
    "minimum rate at which operations read and write memory",
    Measured(
        "22 to 31 GB/s of one operation on 4 and 64 MB, 2 to 6 under the heaviest load; 12 to 20 by hand, in steps",
        MEASURED_ON,
        10,
        "memory",
    ),
)
MEMORY_MAX_BYTES = Threshold(
    32e6,
    "bytes/ms",
    "maximum rate at which operations read and write memory",
    Measured("22 to 32 GB/s (10th to 90th percentile) of one operation on 4 and 64 MB", MEASURED_ON, 10, "memory"),
)
# Bounds of what counts.
MAX_STEP_SHARE = Threshold(
    1 - 1 / calibration.MAX_SAMPLED.value,
    "share",
    "maximum share of a step that a rule says is saved",
    Derived("MAX_SAMPLED, 100 times as fast, as a share"),
)
MAX_RUN_SHARE = Threshold(
    0.95,
    "share",
    "maximum share of a run, or of its steps, that a rule says is tracing",
    Chosen("beyond it the run was too short to tell, not 20 times slower than it could be"),
)
MIN_REST_MS = Threshold(
    0.001,
    "ms",
    "lower bound for the rest of a step: it is a divisor",
    Chosen("the parts of an account need not add up to the last digit"),
)
LEFT_MIN = Threshold(
    0.1,
    "share",
    "minimum share of a part of the step that remains when what disturbs it goes",
    Chosen("at more than ten times as fast, what was measured of the disturbance is wrong"),
)
NEARLY_ALWAYS = Threshold(
    0.9,
    "share",
    "minimum share of the samples of a line, or of the steps, for 'each time'",
    Chosen("beginnings, ends and samples on neighbouring lines are the rest"),
)
MOSTLY = Threshold(0.5, "share", "minimum share for 'mostly', and for 'in each step'", Chosen("the larger half"))
LOOP_SHARE = Threshold(
    0.7,
    "share",
    "minimum share of the time of a function's lines in a loop that is named instead of them",
    Chosen("clearly more than half, and lines before and after the loop may take some"),
)
RARE_SITE = Threshold(
    0.05,
    "share",
    "minimum ratio of the calls of a place to those of the busiest place: rarer ones build something or belong to "
    "another phase",
    Chosen("an epoch of 20 steps or more has its own places in less than one step of 20"),
)

# How much is shown; none of these decides whether something is found.
MAX_PLACES = Threshold(5, "count", "number of places of a finding that are shown", Chosen("what a user looks through"))
MAX_FINDINGS = Threshold(
    3, "count", "number of findings of one rule for several places", Chosen("the costliest; the rest later")
)
MAX_LINE = Threshold(60, "characters", "length of a source line that a sentence quotes", Chosen("half a line of 120"))

FUNCTIONS_DEEP = Threshold(
    3,
    "count",
    "number of nested calls that are followed from a line",
    Chosen("few programs pass one thing through more"),
)
