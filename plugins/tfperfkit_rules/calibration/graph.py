"""Numbers of the rules about what is in compiled functions."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit_rules.measures.machines import MEASURED_ON, TWO_BUSY_CORES

# Constants in graphs.
CONSTANT_BYTES = Threshold(
    1 << 20,
    "bytes",
    "of constants at one line, from which on they are reported",
    Chosen("tables of positions and vocabularies are smaller, data sets are not"),
)
CONSTANT_LOW_BYTES = Threshold(
    8 << 20, "bytes", "of constants, for severity low", Chosen("its trace costs more than 0.05 s: CONSTANT_MB_MS")
)
CONSTANT_MEDIUM_BYTES = Threshold(
    32 << 20, "bytes", "of constants, for severity medium", Chosen("its trace costs more than 0.2 s: CONSTANT_MB_MS")
)
CONSTANT_MB_MS = Threshold(
    7.0,
    "ms",
    "what 1 MB of constants adds to the trace and the first run of a function, at least, against a captured tensor",
    Measured(
        "1 to 11 ms (10th to 90th percentile), median 7.4; 14 to 35 at a load of 14, by hand 20 to 77 in six pairs",
        MEASURED_ON,
        10,
        "constant",
    ),
)
TRACE_OPERATION_MS = Threshold(
    10.0,
    "ms",
    "trace and first run of a function for each operation, at most",
    Measured(
        "0.3 to 0.5 ms, 1.0 to 2.2 at a load of 14; by hand 4 ms in an unrolled graph of 22,614 operations: "
        "Grappler takes more than in proportion",
        MEASURED_ON,
        10,
        "trace_operation",
    ),
)
TRACE_CALL_MS = Threshold(
    1000.0,
    "ms",
    "trace and first run of a small function, at most",
    Chosen("the first one of a run starts TensorFlow up"),
)

# Loops, layers, metrics.
UNROLLED_OPERATIONS = Threshold(
    1000,
    "operations",
    "of a loop that tracing unrolled, from which on it is reported",
    Chosen("a second and more of tracing at some ms each (the measure trace_operation)"),
)
UNROLLED_COPIES = Threshold(
    64,
    "copies",
    "of a loop's body, from which on it is reported",
    Chosen("loops over the layers of a model have fewer, loops over time steps or examples more"),
)
APART_TURNS = Threshold(
    8,
    "copies",
    "of a loop's body that do not need each other, from which on they are reported",
    Chosen("as of eager loops, MIN_TURNS: loops with fewer go over layers, heads or networks"),
)
MIN_APART = Threshold(
    2 * calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step in such a loop",
    Derived("twice XProf's moderate share of one part of a step: about half of it goes"),
)
GAPS_GO = Threshold(
    0.5,
    "share",
    "of the time between the operations of such a loop, what goes with them at least",
    Chosen("the middle: a part of it is the start and the end of the call, which stay"),
)
LINES_KNOWN = Threshold(
    0.98,
    "share",
    "of a function's operations whose lines are known, for an exact count",
    Chosen("else it says 'at least'"),
)
MIN_METRICS = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step in metrics and summaries",
    Derived("XProf's moderate share of one part of a step"),
)
NAMED = Threshold(
    0.1, "share", "of metrics and summaries: a line or a kind with less is not named", Chosen("a tenth changes little")
)
MIN_LAYER = Threshold(
    0.15,
    "share",
    "of the step in a layer that is slower than its like",
    Chosen("three moderate shares: nothing measured says that the layer can be faster"),
)
SLOWER = Threshold(
    6.0,
    "number",
    "times slower than the median of its kind, for a slow layer",
    Chosen("twice the factor by which size alone makes operations differ, SMALL_OPERATION"),
)
NEIGHBOURS = Threshold(
    2, "count", "other layers of the kind, to know what is usual", Chosen("the fewest with a middle")
)
MIN_GFLOP = Threshold(
    0.01, "GFLOP", "of a layer a step: with less it is slow by nature", Chosen("0.1 ms at 100 GFLOP/s: DIVIDED_MS")
)

# Loops whose turns do next to nothing.
SMALL_LOOP_TURNS = Threshold(
    32,
    "turns",
    "of a loop in a compiled function, from which on it is reported",
    Chosen("10 to 50 us each: with fewer the loop takes about what a call of the function does"),
)
SMALL_LOOP_RATE = Threshold(
    0.01,
    "share",
    "of the rate of NumPy's float32 product, at which the numbers of a turn are computed at worst",
    Chosen("1 GFLOP/s at 100: an exponential takes a few ns, and what is slower than that is not taken for small"),
)
SMALL_LOOP_OWN = Threshold(
    0.5,
    "share",
    "of what the runtime needs for a loop, that its operations' own work may take at most",
    Chosen("beyond it the turns do work that a whole tensor would need too"),
)
SMALL_LOOP_OPERATION_MAX_MS = Threshold(
    0.005,
    "ms",
    "an operation of a turn on next to nothing, at most; at least GRAPH_OP_MIN_MS",
    Measured(
        "0.6 to 2.3 us, median of six loops of 7 to 16 operations a turn 1.5; at a load of 6 up to 4.7", MEASURED_ON, 6
    ),
)
KERNEL_START_MAX_MS = Threshold(
    0.1,
    "ms",
    "a run of a kernel on next to nothing, at most",
    Measured("62 us for oneDNN's softmax of 12 x 12 numbers; a turn of tf.map_fn with it 70", MEASURED_ON, 2),
)
MIN_SMALL_LOOP = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the time in such a loop",
    Derived("XProf's moderate share of one part of a step"),
)
SMALL_LOOP_LEFT_MIN = Threshold(
    0.01,
    "share",
    "of such a loop, what is left when whole tensors or XLA take its place, at least",
    Measured("XLA left 0.007 and 0.008 of a scan and a scalar recurrence, the whole batch 0.02", MEASURED_ON, 4),
)
SMALL_LOOP_LEFT_MAX = Threshold(
    0.25,
    "share",
    "of such a loop, what is left at most",
    Measured("vectorized_map left 0.09 of a map_fn over 2,000 rows of 64, XLA 0.21, cumsum 0.07", MEASURED_ON, 3),
)
GRADED_NUMBER_MIN_MS = Threshold(
    2.5e-6,
    "ms",
    "a number that the turns of a loop compute, where whole tensors and their gradients do, for each pass, at least",
    Measured(
        "the quickest of nine: softmax of 2,000 rows of 64 and 512 numbers 5 and 2.2 ns, distances in 128 pairs of "
        "sets of points 11 and 16, recurrences of 800 turns of 32 and 256 numbers by doubling 3.2 and 3.0 a pass",
        TWO_BUSY_CORES,
        6,
    ),
)
GRADED_NUMBER_MAX_MS = Threshold(
    1.6e-5, "ms", "the same, at most", Measured("see GRADED_NUMBER_MIN_MS", TWO_BUSY_CORES, 6)
)

# What goes with a part of a graph.
MIN_REPEATED = Threshold(
    0.03,
    "share",
    "of the step in passes that could be one",
    Chosen("with REPEATED_SAVED_MIN a low share goes for certain"),
)
REPEATED_SAVED_MIN = Threshold(
    0.6,
    "share",
    "of repeated forward passes, what goes with them at least",
    Chosen("operations ran beside others: 1 / OVERLAP_MANY"),
)
REPEATED_SAVED_MAX = Threshold(
    1.5,
    "share",
    "of repeated forward passes, what goes with them at most: the runtime's gaps, what was kept for a gradient",
    Measured("a step with a share of 0.21 gained 1.37 times, 1.3 of it", TWO_BUSY_CORES, 1),
)
REPEATED_SHARE_MAX = Threshold(
    0.9, "share", "no such fix saves more of a step", Chosen("the one pass that stays takes as long as one that goes")
)
GRADIENTS_SAVED_MIN = Threshold(
    0.3,
    "share",
    "of the backward passes but one, what is saved at least by one pass for the sum of losses",
    Chosen("terms share less than a whole pass, and what they don't share has to be computed anyway"),
)
PRINT_SAVED_MIN = Threshold(
    0.5, "share", "of printing and checking, what goes with it at least", Chosen("the other half ran beside the step")
)
PRINT_SAVED_MAX = Threshold(
    1.25,
    "share",
    "of printing and checking, what goes with it at most: a print also orders what would run side by side",
    Measured("a pair of runs gained 1.56 times at a share of 0.33, 1.1 of it", TWO_BUSY_CORES, 1),
)
PYTHON_CALL_LEFT = Threshold(
    0.6,
    "share",
    "of calls back into Python, what operations in their place take at worst",
    Measured("0.19 to 0.59, median 0.37, of calls on 1,000 to 1,000,000 numbers", MEASURED_ON, 15, "python_call"),
)

# Float64.
MIN_FLOAT64 = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "of a function's FLOPs in float64: a loss or a metric in it costs nothing",
    Derived("the least share that a finding is made for"),
)
FLOAT64_SAVED_MIN = Threshold(
    0.2,
    "share",
    "of float64 arithmetic, what float32 saves at least",
    Measured(
        "0.64 to 0.86, median 0.72; by hand 0.27 to 0.85. Half the bytes and twice the numbers per instruction say 0.5",
        MEASURED_ON,
        15,
        "float64",
    ),
)
FLOAT64_SAVED_MAX = Threshold(
    0.8,
    "share",
    "of float64 arithmetic, what float32 saves at most",
    Measured("see FLOAT64_SAVED_MIN", MEASURED_ON, 15, "float64"),
)

# Updates and kernels.
MIN_DENSE_UPDATE = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "of the step in updates of embeddings row by row, all rows",
    Derived("a high share, as XProf has it for one part of a step"),
)
DENSE_SAVED_MIN = Threshold(
    0.75,
    "share",
    "of such updates, what goes with updating the rows of the batch only, at least: sorting them out takes time too",
    Measured("steps with a share of 0.65 got 2.0 and 3.4 times as fast: 0.77 and 1.1 of it went", TWO_BUSY_CORES, 2),
)
DENSE_SAVED_MAX = Threshold(
    1.15,
    "share",
    "the same at most: the tables no longer push all else out of the caches",
    Measured("see DENSE_SAVED_MIN", TWO_BUSY_CORES, 2),
)
MIN_SLOW_KERNEL = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "of the step in a decomposition of matrices",
    Derived("a high share, as XProf has it for one part of a step"),
)

# Layers that never change.
FIXED_MIN = Threshold(
    0.1,
    "share",
    "of the step in operations that give the same in each epoch: with less it is not worth a second script",
    Chosen("a tenth; to keep results is a change of the script's form"),
)
FIXED_LEFT_MAX = Threshold(
    0.1,
    "share",
    "of what frozen layers take of a step, what reading their kept results leaves at worst",
    Measured(
        "a convolutional base at 64 x 64 with a new head: 41.5 ms a step became 2.2; MobileNetV2: 88 and 103 ms became "
        "5 and 6, of which most is the call of the step",
        TWO_BUSY_CORES,
        3,
    ),
)

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
MIN_FLAT = Threshold(
    calibration.LOUD_RESIDUAL.value,
    "share",
    "of the step in a dense layer on all places of a picture, its update included",
    Derived("as of a line without a cause: what replaces it is another model, and must be worth that"),
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
