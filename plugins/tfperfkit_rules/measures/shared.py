"""Numbers that several families of rules use: the costs of TensorFlow on a processor, and bounds of what counts."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit_rules.measures.machines import MEASURED_ON, MEASURED_QUIET, TWO_BUSY_CORES

# What TensorFlow's own work costs.
GRAPH_OP_MIN_MS = Threshold(
    0.0007,
    "ms",
    "an operation of a compiled function on next to nothing, at least, after pruning and folding",
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
    "an operation of a compiled function on next to nothing, at most",
    Measured("up to 4 us each with other work on the processors", TWO_BUSY_CORES, None, "graph_op"),
)
FUNCTION_CALL_MIN_MS = Threshold(
    0.2,
    "ms",
    "a call of a compiled function from Python, at least",
    Measured("0.13 to 0.35 ms (10th to 90th percentile), median 0.17", MEASURED_ON, 20, "function_call"),
)
FUNCTION_CALL_MAX_MS = Threshold(
    1.0,
    "ms",
    "a call of a compiled function from Python, at most, with its arguments to bind",
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
    "taking a batch that is ready: below it nothing is to be gained",
    Measured("0.025 to 0.032 ms; 0.05 to 0.08 by hand, up to 0.23 at a load of 14", MEASURED_ON, 15, "fetch"),
)
SMALL_OPERATION = Threshold(
    3.0,
    "number",
    "what a product on small tensors takes, over an operation on next to nothing, its threads and caches included",
    Measured(
        "up to 3 times, of the operations in traces of steps on small tensors", TWO_BUSY_CORES, None, "small_operation"
    ),
)
TINY_OPERATIONS = Threshold(
    0.25,
    "share",
    "of the operations, by their time: the longest of these takes what one on next to nothing takes",
    Chosen("reads of variables, shapes and constants are more than a quarter of every step's"),
)
DIVIDED_MS = Threshold(
    0.1,
    "ms",
    "an operation that takes less is not divided among threads",
    Cited(
        "Eigen, unsupported/Eigen/CXX11/src/Tensor/TensorCostModel.h: a second thread from 2.1 times 100,000 cycles on "
        "(kStartupCycles, kPerThreadCycles), which 2.1 GHz run in 0.1 ms"
    ),
)
RATE_MIN = Threshold(
    0.7,
    "number",
    "FLOPs a second of a compiled step without XLA, over NumPy's float32 product, at least",
    Measured(
        "0.59 to 3.2, median 0.77; nine runs by hand gave 0.85 to 3.5, but 9 and 11 where the product was measured "
        "under more load",
        MEASURED_ON,
        10,
        "arithmetic_rate",
    ),
)
RATE_MAX = Threshold(
    3.0,
    "number",
    "FLOPs a second of a compiled step without XLA, over NumPy's float32 product, at most",
    Measured("see RATE_MIN", MEASURED_ON, 10, "arithmetic_rate"),
)
MEMORY_MIN_BYTES = Threshold(
    12e6,
    "bytes/ms",
    "bytes that operations read and write in a ms, at least",
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
    "bytes that operations read and write in a ms, at most",
    Measured("22 to 32 GB/s (10th to 90th percentile) of one operation on 4 and 64 MB", MEASURED_ON, 10, "memory"),
)
MOVED_APART = Threshold(
    0.5,
    "share",
    "of the bytes that operations move, what is not the arithmetic's own, whose time is in its FLOPs",
    Chosen("the middle of what is possible: nothing in a trace tells the two apart"),
)

# Bounds of what counts.
MAX_STEP_SHARE = Threshold(
    1 - 1 / calibration.MAX_SAMPLED.value,
    "share",
    "no rule says that more of a step than this goes",
    Derived("MAX_SAMPLED, 100 times as fast, as a share: what is left of a step is never nothing"),
)
MAX_RUN_SHARE = Threshold(
    0.95,
    "share",
    "no rule says that tracing takes more of a run, or of its steps, than this",
    Chosen("beyond it the run was too short to tell, not 20 times slower than it could be"),
)
MIN_REST_MS = Threshold(
    0.001,
    "ms",
    "no rest of a step is taken for shorter: it is divided by",
    Chosen("the parts of an account need not add up to the last digit"),
)
LEFT_MIN = Threshold(
    0.1,
    "share",
    "of a part of the step, what stays at the very least when something that disturbs it goes",
    Chosen("beyond ten times as fast what was measured of the disturbance is wrong, not the step that fast"),
)
NEARLY_ALWAYS = Threshold(
    0.9,
    "share",
    "of the times that a line was sampled, or of the steps, for 'each time'",
    Chosen("beginnings, ends and samples that fall beside make up the rest"),
)
MOSTLY = Threshold(
    0.5, "share", "of something, or so often in a step, for 'mostly' and for 'in each step'", Chosen("the larger half")
)
LOOP_SHARE = Threshold(
    0.7,
    "share",
    "of the time of a function's lines, what a loop must hold to be named in their place",
    Chosen("clearly more than half, and lines before and after the loop may take some"),
)
SAMPLED_MAX = Threshold(
    2.0,
    "number",
    "a part of the account is not taken for more than this many times what samples say of its lines",
    Measured(
        "loading JSON was 54 % of the samples and 71 % of the step by the trace; TensorFlow's own Python differs more",
        TWO_BUSY_CORES,
        1,
    ),
)
RARE_SITE = Threshold(
    0.05,
    "share",
    "of the busiest place: one that is reached less often builds something, or belongs to another phase",
    Chosen("an epoch of 20 steps or more has its own places in less than one step of 20"),
)

# What a call of fit costs beside its step.
FIT_CALLS_MIN_SHARE = Threshold(
    2 * calibration.SEVERITY_HIGH.value,
    "share",
    "of the step, what it pays beside its operations, for a finding about the calls",
    Derived("twice a high share: half of it is what several steps in one call save for certain"),
)
FIT_CALLS_MAX_STEP_MS = Threshold(
    5 * FUNCTION_CALL_MAX_MS.value,
    "ms",
    "a longer step has no finding about its calls",
    Derived("what a call costs (FUNCTION_CALL_MAX_MS) is at most a fifth of it then"),
)
FIT_CALLS_MIN_AROUND = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "of the step, what passes outside of the compiled function",
    Derived("a high share, as XProf has it for one part of a step"),
)
FIT_CALLS_MIN_STEPS = Threshold(
    1000, "steps", "fewer pass quickly either way", Chosen("at most 5 s in all (FIT_CALLS_MAX_STEP_MS)")
)

# How much is shown; none of these decides whether something is found.
MAX_PLACES = Threshold(5, "count", "places of a finding", Chosen("what a person looks through"))
MAX_FINDINGS = Threshold(3, "count", "findings of one rule for several places", Chosen("the costliest; the rest later"))
MAX_LINE = Threshold(60, "characters", "of a line of source that a sentence quotes", Chosen("half a line of 120"))

FUNCTIONS_DEEP = Threshold(
    3,
    "count",
    "functions that are looked into below one another, from a line on",
    Chosen("few programs hand one thing on through more"),
)
