"""Numbers of the rules about eager work that is no training step: loops and calls beside training, single elements,
Keras' ``adapt``, tensors of Python lists."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit_rules.calibration.machines import TWO_BUSY_CORES

EAGER_LEFT_MIN = Threshold(
    0.03,
    "share",
    "of operations called one by one, what a compiled function leaves at best, where no trace counted them",
    Measured(
        "0.02 at the 10th percentile: chunks of a k-means 0.02 to 0.07, a power iteration on 64 numbers 0.03 to 0.06, "
        "a mel spectrogram 0.02 to 0.12",
        TWO_BUSY_CORES,
        7,
    ),
)
EAGER_LEFT_MAX = Threshold(
    0.65,
    "share",
    "of operations called one by one, what a compiled function leaves at worst, where no trace counted them",
    Measured(
        "augmenting an image of 64 pixels 0.12 to 0.66, a Mandelbrot set of 600 x 600 0.29 to 0.64, a power iteration "
        "on 1000 numbers, which is all products, 0.26 to 1.3",
        TWO_BUSY_CORES,
        7,
    ),
)
TRACED_MIN = Threshold(
    5.0,
    "number",
    "runs of a function operation by operation, less the work of its kernels, that tracing it and its first run take, "
    "at least",
    Measured(
        "26 loops of benchmarks/eager_loops: 4.9 at the 10th percentile, median 9.3, 25 at the 80th; beyond that steps "
        "of 3 ms and graphs that unroll a loop",
        TWO_BUSY_CORES,
        26,
    ),
)
TRACED_MAX = Threshold(
    25.0,
    "number",
    "runs of a function operation by operation, less the work of its kernels, that tracing it and its first run take, "
    "at most",
    Measured("see TRACED_MIN", TWO_BUSY_CORES, 26),
)
RARE_TYPES = Threshold(
    0.25,
    "share",
    "of the types of operations, by how often they run: those run once or a few times in each call",
    Chosen("a step that TensorFlow differentiates has some forty types, most of which its few heavy layers repeat"),
)
LONGEST_CALL = Threshold(
    1000.0,
    "operations",
    "of one call of what would be compiled, at most, where no line was counted: what comes more rarely is none of it",
    Chosen("a step of a GAN has 1,240, one of a network with second derivatives 800"),
)
TRACING_REPORTED = Threshold(
    0.3,
    "share",
    "of what is left of a work once it is compiled, in tracing it: from it on that is reported",
    Chosen("a longer work of the same kind then gains clearly more"),
)
BATCH_MADE = Threshold(
    2.0,
    "number",
    "turns of a loop, less the work of their kernels, that making one batch of all and handing its operations out "
    "takes, at most",
    Chosen("the same operations once more, on more data, and putting turns together and apart again"),
)
TURNS_IN_BATCH = Threshold(
    100,
    "turns",
    "in one batch at least, where a loop has so many",
    Derived("the advice: some hundreds at a time where memory asks for it"),
)
BATCHED_LEFT_MIN = Threshold(
    0.25,
    "share",
    "of a convolution of one example, beyond what an operation on next to nothing takes, what it takes as one of many, "
    "at least",
    Measured("of 100 at once: six convolutions 0.27 to 0.58 each", TWO_BUSY_CORES, 5),
)
PRODUCTS_LEFT_MIN = Threshold(
    0.01,
    "share",
    "of a product of one example, beyond what an operation on next to nothing takes, what it takes as one of many, at "
    "least",
    Measured("of 100 at once: products of 32 to 1,024 numbers by a matrix 0.01 to 0.11 each", TWO_BUSY_CORES, 5),
)
LIGHT_BATCHED_MAX = Threshold(
    2.0,
    "number",
    "times what elementwise work of one example takes as one of many, at most: alone its numbers stay in the cache, "
    "many go to memory, on new pages",
    Measured(
        "of 100 at once: tanh and sums of 147,456 numbers 0.54 to 2.3, of 16,384 0.26 to 0.61, of fewer 0.01 to 0.06",
        TWO_BUSY_CORES,
        5,
    ),
)
MAPS_LEFT_MIN = Threshold(
    0.001,
    "share",
    "of tf.map_fn called eagerly, what operations on the whole tensor leave at best",
    Measured("200 rows of 12 numbers: 309 ms became 0.38 ms, 0.0003 to 0.0024", TWO_BUSY_CORES, 7),
)
MAPS_LEFT_MAX = Threshold(
    0.4,
    "share",
    "of tf.map_fn called eagerly, what is left at worst, where no trace counted the operations",
    Measured(
        "the same compiled 0.008 to 0.019; products of 256 x 256, which are work themselves, 0.43 and, as one product "
        "of all, 0.40",
        TWO_BUSY_CORES,
        7,
    ),
)
ELEMENTS_LEFT_MIN = Threshold(
    0.0005,
    "share",
    "of taking elements out of a tensor one by one, what one read of the whole leaves at best",
    Measured("float(x[i, j]) 0.30 ms, of the array that .numpy() gave 0.0002 ms: 0.0002 to 0.0014", TWO_BUSY_CORES, 7),
)
ELEMENTS_LEFT_MAX = Threshold(
    0.02,
    "share",
    "of taking elements or rows out of a tensor one by one, what one read of the whole leaves at worst",
    Measured("rows with a sum of each, by NumPy: 0.0005 to 0.014", TWO_BUSY_CORES, 7),
)
MAX_NAME = Threshold(
    30, "characters", "of an expression that a title quotes", Chosen("a third of a line; decides nothing")
)
SEVERAL = Threshold(
    4,
    "number",
    "operations of an iteration, below which there is nothing to put into one call",
    Chosen("a call is one too"),
)
ADAPT_BATCH = Threshold(
    1024, "examples", "in a batch, as the advice makes it", Chosen("small in memory, rarely called")
)
ADAPT_BATCH_MAX = Threshold(
    64,
    "examples",
    "in a batch of an adapt, up to which each is mostly its operations' calls",
    Chosen("a sixteenth of it"),
)
ADAPT_LEFT_MIN = Threshold(
    0.01,
    "share",
    "of an adapt over batches of one, what is left at least with large ones",
    Measured(
        "6,000 rows of 8 numbers in batches of one 6.7 to 20.5 s, of 1024 0.03 to 0.06; 6,000 texts 62 to 108 s and "
        "0.16 to 0.36; batches of 32 left 0.14 to 0.31 of what they took",
        TWO_BUSY_CORES,
        3,
    ),
)
ADAPT_LEFT_MAX = Threshold(
    0.2, "share", "of it, what is left at most", Chosen("what the pipeline itself takes for each example is not known")
)
ADAPT_PASSES = Threshold(
    3, "count", "passes over the data by adapt: fewer are two layers", Chosen("a pattern that grows with the columns")
)
LIST_MS = Threshold(
    0.2,
    "ms",
    "for a tensor: of a list it takes more, of an array of up to 200,000 numbers less",
    Measured("arrays of 256 to 200,000 numbers 0.01 to 0.09 ms", TWO_BUSY_CORES, 3),
)
LIST_LEFT_MIN = Threshold(
    0.003,
    "share",
    "of making a tensor of a list, what is left at least",
    Measured(
        "lists of 16 to 200 rows of 100 to 3,000 numbers: an array in their place 0.001 to 0.003, 0.08 of a tensor of "
        "3,200 numbers; stacked arrays 0.003 and 0.004, and 0.2 there",
        TWO_BUSY_CORES,
        12,
    ),
)
LIST_LEFT_MAX = Threshold(
    0.1,
    "share",
    "of it, what is left at most",
    Measured("see LIST_LEFT_MIN; tf.constant of the same lists 0.005 to 0.016, 0.1 there", TWO_BUSY_CORES, 12),
)
