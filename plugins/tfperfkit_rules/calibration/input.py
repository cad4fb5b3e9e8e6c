"""Numbers of the rules about the input pipeline."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.calibration.machines import MEASURED_ON, TWO_BUSY_CORES

# The wait.
MIN_WAIT = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step in waiting for input",
    Derived("XProf: an input share of 5 % is moderate"),
)
KEEPS_UP = Threshold(
    0.5,
    "share",
    "of the step: a pipeline whose slowest section takes less keeps up, and the wait is jitter",
    Chosen("the pipeline could be twice as fast as the step"),
)
LOST_SHARE = Threshold(
    0.3,
    "share",
    "of the step: a longer wait is no jitter",
    Chosen("the account's own line for an outlier, beyond jitter"),
)
FILLING = Threshold(
    0.5, "share", "of the wait at beginnings of epochs, for 'the buffers fill anew'", Chosen("the larger half")
)
CONTENDED = Threshold(
    0.3,
    "share",
    "what work beside a busy step costs it at most, beyond a processor's part",
    Measured("a prefetch added to a pipeline without one left 0.5 to 0.8 of the wait", TWO_BUSY_CORES, None),
)
MIN_PART = Threshold(
    0.3,
    "share",
    "of the slowest section, what a stage or what is cached must have",
    Chosen("the wait has other causes"),
)
PLAIN_MS = Threshold(
    shared.FIT_CALLS_MAX_STEP_MS.value,
    "ms",
    "a stage without a function of the script's that takes less a step is as it should be",
    Derived("in a step this short its calls decide, see FIT_CALLS_MAX_STEP_MS"),
)

TWO_AN_EPOCH = Threshold(
    2.0, "count", "iterators that Keras makes for an epoch, at most", Cited("Keras 3, epoch_iterator.py")
)

# Python in the pipeline.
LOCK_MIN_PYTHON = Threshold(
    0.3,
    "share",
    "of the step in TensorFlow's Python on the training thread, for a wait for the interpreter's lock",
    Chosen("clearly more than the Python of a call (LOCK_MIN_MS)"),
)
LOCK_MIN_MS = Threshold(
    2 * shared.FUNCTION_CALL_MAX_MS.value,
    "ms",
    "of that Python a step",
    Derived("twice what a call of a compiled function takes at most"),
)
LOCK_MAX_EAGER = Threshold(
    0.1,
    "share",
    "of the step in eager operations: with more that Python is long by itself",
    Cited("XProf warns of eager execution from 10 % on"),
)
LOCK_MIN_WORK = Threshold(
    0.5,
    "share",
    "of the step in which the pipeline's Python is at work",
    Chosen("two threads meet more often than not"),
)
LOCK_WAITING_MAX = Threshold(
    0.9,
    "share",
    "of the training thread's Python, what is waiting for the lock at most",
    Measured(
        "a map of numpy_function beside a fit, written anew with TensorFlow operations: 7.4 and 7.8 ms a step became "
        "2.3 and 2.0. Threads that take turns give a half; one that gives the lock up at each call gets less",
        TWO_BUSY_CORES,
        2,
    ),
)
PYTHON_LEFT = Threshold(
    0.5,
    "share",
    "of Python that prepares batches, what is left at worst, written for whole batches",
    Chosen("half: no measurement bounds what a script's Python does"),
)

# Data sets and iterators made anew.
PER_STEP = Threshold(
    0.5,
    "number",
    "iterators a step: more are made in the step itself, not once an epoch",
    Chosen("in every other step"),
)
MIN_MADE = Threshold(4, "count", "data sets of one line, and steps, for a loop", Chosen("training, validation, test"))
ITERATOR_STAYS = Threshold(
    0.1,
    "share",
    "of the time at the line that makes an iterator, what stays: fetching one batch",
    Chosen("FETCH_MS of a ms and more that making an iterator takes"),
)
IN_GRAPH_BYTES = Threshold(
    10_000_000,
    "bytes",
    "of a data set that is a constant of a graph, copied with each trace",
    Chosen("0.07 s a trace and more by CONSTANT_MB_MS; 2 GB is the limit of a serialised graph"),
)
COPIED_BYTES = Threshold(
    500_000_000, "bytes", "of arrays copied into TensorFlow's memory", Chosen("a quarter of what 2 GB of memory hold")
)
COPIED_SHARE = Threshold(0.1, "share", "of the memory limit in such copies", Chosen("a tenth of it, twice"))

# Files read again.
RELOAD_RATE = Threshold(
    shared.NEARLY_ALWAYS.value, "number", "opens of a file a step, for 'at every step'", Derived("see NEARLY_ALWAYS")
)
ONLY_LOADS = Threshold(
    shared.NEARLY_ALWAYS.value,
    "share",
    "of a call's samples on the lines that load, for a call that is only that",
    Derived("see NEARLY_ALWAYS"),
)

MIN_AGAIN = Threshold(
    3.0, "number", "opens of a file, in all or in each pass over many, for 'again and again'", Chosen("twice is chance")
)
FEW_FILES = Threshold(
    2, "count", "files of one line, of which each pass may keep what it loaded", Chosen("examples, and their labels")
)

# Functions mapped over examples.
MAP_CALL_US = Threshold(
    60.0,
    "us",
    "an example in a mapped function: up to so much is mostly the call",
    Measured(
        "22 to 67 us, median 38, whatever the number of operations; 18 to 38 by hand. Below twice that calling is "
        "the larger half",
        MEASURED_ON,
        15,
        "map_call",
    ),
)
MAP_OPERATION_US = Threshold(
    1000 * shared.GRAPH_OP_MIN_MS.value,
    "us",
    "on top for each operation of the function",
    Measured("see GRAPH_OP_MIN_MS", TWO_BUSY_CORES, 2, "graph_op"),
)
PARSE_US = Threshold(
    400.0,
    "us",
    "a record in a map that parses single strings: up to so much a batch takes a small part of",
    Measured(
        "47 to 320 us at a load of 6: tf.train.Example of 4 to 120 features, lines of 5 and 30 numbers, raw bytes; "
        "parsed in batches of 256 0.02 to 0.23 of it was left (0.69 once, beside other work)",
        TWO_BUSY_CORES,
        22,
    ),
)
WINDOW_US = Threshold(
    300.0,
    "us",
    "a window over a series in window().flat_map(batch) and the maps behind it: up to so much is mostly the calls",
    Measured(
        "windows of 25 numbers 48 us on two busy cores, of 21 numbers 44 us; 180 us at a load of 6", TWO_BUSY_CORES, 3
    ),
)
SMALL_BYTES = Threshold(
    16_384,
    "bytes",
    "an example up to this size is little work itself",
    Chosen("1 us at 16 GB/s, the middle of MEMORY_*"),
)
ROWS = Threshold(
    256,
    "elements",
    "to be handed to Python at a time in place of one",
    Chosen("leaves a 256th of what each call takes; with SMALL_BYTES each, 4 MB"),
)
ROWS_LEFT_MAX = Threshold(
    0.1,
    "share",
    "of being handed elements one by one, left where Python goes through the rows of batches, at most",
    Derived("a 256th of the calls, and 0.1 to 1 us for the row of an array, of 50 us and more"),
)
MAP_MIN_BATCH = Threshold(
    8,
    "examples",
    "in a batch, for which calling a function once gains enough",
    Chosen("with 8 an eighth of the calls stay"),
)
MAP_LEFT_MAX = Threshold(
    0.3,
    "share",
    "of such a stage, what is left at worst when it works on batches",
    Measured("0 to 0.24, median 0.04; more of a function that does more", MEASURED_ON, 20, "map_batched"),
)
CACHE_SHARE = Threshold(
    0.3,
    "share",
    "of the memory limit that a cache may fill",
    Chosen("the model and the rest of the run need the other two thirds"),
)
CACHED_LEFT_MAX = Threshold(
    0.3,
    "share",
    "of cached stages, what is left at worst",
    Measured("0.06 to 0.08; by hand 49 us of 191 us (0.26) for a kept element of 110 KB", MEASURED_ON, 5, "cached"),
)
BUFFER_BYTES = Threshold(
    100_000_000, "bytes", "of a shuffle buffer of decoded examples", Chosen("a tenth of a small container's 1 GB")
)
BUFFER_SMALLER = Threshold(
    4.0, "number", "times smaller before they are decoded", Chosen("uint8 in place of float32 alone gives 4")
)
BUFFER_SHARE = Threshold(0.2, "share", "of the memory limit in any shuffle buffer", Chosen("a fifth is no small part"))
BUFFER_GRAVE = Threshold(
    0.5, "share", "of the memory limit in a shuffle buffer, for severity high", Chosen("a second buffer does not fit")
)
LARGE_FREED = Threshold(
    0.5,
    "share",
    "of a run, in which one or two iterators were freed, from which on it is no remark",
    Chosen("nothing else takes as much"),
)
OFTEN_FREED = Threshold(
    3, "number", "waits for an iterator that is freed, from which on they are no single race", Chosen("twice is chance")
)
