"""Numbers of the rules about operations that Python hands out one by one."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit_rules.calibration.machines import MEASURED_ON, TWO_BUSY_CORES

# When it is reported.
MIN_SHARE = Threshold(
    0.10, "share", "of the step in eager operations and Python that hands them out", Cited("XProf warns from 10 % on")
)
MIN_OPERATIONS = Threshold(
    30,
    "operations",
    "of a step: with fewer there is little to compile",
    Chosen("at 10 to 40 us each they take what a call of a compiled function takes, up to 1 ms"),
)
MIN_NUMPY = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step in NumPy and Python inside it, from which on they have a finding of their own",
    Derived("XProf's moderate share of one part of a step"),
)
MIN_TURNS = Threshold(
    8,
    "turns",
    "a loop with fewer goes over layers or networks, which no batch takes the place of",
    Chosen("where vector instructions begin to gain: eight numbers of 32 bits in 256"),
)
MIN_LOOP = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step in the forward part of a loop",
    Derived("XProf's moderate share of one part of a step"),
)
OFTEN = Threshold(
    0.2,
    "share",
    "of the steps with a predict: from it on it is in the loop",
    Chosen("more often than every fifth step"),
)
MAX_COMPUTING = Threshold(
    0.5,
    "share",
    "of predict's time in compiled functions: with more it is not for little data",
    Chosen("the larger half computes"),
)
MIN_CALL = Threshold(
    2 * calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step in an eager call of a model beside a compiled update",
    Derived("XProf warns of eager execution from 10 % on"),
)
MIN_TURNS_AGAIN = Threshold(
    3, "turns", "of a loop in which the same is computed again", Chosen("two may be before and after something")
)
FEW_BATCHES = Threshold(
    8,
    "batches",
    "a fit of so many and more pays for its own setting up",
    Chosen("setting up is spread over them: see the measure fit"),
)
MIN_FITS = Threshold(5, "count", "calls of fit make a loop", Chosen("fewer are phases: pre-training, fine-tuning"))

# What compiling leaves.
AGAIN = Threshold(
    1.1,
    "number",
    "times by which the step once compiled differs from one run to the next, beside what the model does not know",
    Chosen("runs of one script differ by as much on a shared machine, as of headroom's MIN"),
)
MAX_WAITED = Threshold(
    0.9,
    "share",
    "of its time that a thread waits for a processor, beyond which no more is reckoned with",
    Chosen("ten times as long as alone: what was measured on such a machine says next to nothing"),
)
LIGHT_SIDE_BY_SIDE = Threshold(
    0.5,
    "share",
    "of elementwise work in the kernels of eager operations, what is left at best in a graph: beside other work",
    Derived("two threads run side by side what one ran in turn; without XLA next to nothing is fused"),
)
PYTHON_LEFT = Threshold(
    0.03,
    "share",
    "of the Python that hands operations out, what is left at worst (Keras' callbacks and metrics)",
    Chosen("one call in place of 30 (MIN_OPERATIONS) and more"),
)
SHORT_MS = Threshold(
    1.0,
    "ms",
    "heavy operations that are shorter spend much of their time on waking threads",
    Chosen("ten times what is divided at all, DIVIDED_MS"),
)
SHORT_LEFT = Threshold(
    0.5, "share", "of such short operations, what is left in a graph at best", Chosen("work and waking are alike then")
)
OVERLAP_ONE = Threshold(
    1.15,
    "number",
    "heavy operations of one chain in a graph, at most so many times as fast by running beside others",
    Chosen("only what is beside the chain, the gradients of weights, can: of three products one, partly"),
)
OVERLAP_MANY = Threshold(
    1.6,
    "number",
    "those of two networks' updates, at most so many times as fast where there are processors",
    Measured("1.2 to 1.7 for two independent chains of convolutions", MEASURED_ON, 5, "overlap"),
)
HEAVY_LEFT = Threshold(
    0.3,
    "share",
    "of heavy work, what is left at least after pruning",
    Chosen("the forward pass, one of three products of the same size, is always needed"),
)
FIRST_INPUT = Threshold(
    0.5,
    "share",
    "of the backward work, what the gradient of a network's input makes up at most",
    Chosen("one of two products of the same size"),
)
NUMPY_LEFT = Threshold(
    0.5,
    "share",
    "of NumPy in the step, what replaces it takes at worst",
    Chosen("half: no measurement bounds what a script's NumPy does"),
)
BACKWARD_SAVED = Threshold(
    0.6,
    "share",
    "of the backward work of a loop's turns, what becomes one turn with the forward work, at least",
    Chosen("the rest is the update and what the tape does once"),
)
MIN_FORWARD = Threshold(
    0.01, "share", "the forward part of a step is taken for this at least", Chosen("it is divided by")
)
PREDICT_LEFT_MIN = Threshold(
    0.005,
    "share",
    "of the time in predict, what calling the model leaves at best",
    Measured(
        "0.001 to 0.09, median 0.01, of networks of two and four layers; by hand 0.001 (compiled) and 0.005 of 244 ms",
        MEASURED_ON,
        20,
        "predict",
    ),
)
PREDICT_LEFT_MAX = Threshold(
    0.1,
    "share",
    "of the time in predict, what calling the model leaves at worst",
    Measured("see PREDICT_LEFT_MIN: the 90th percentile is 0.09", MEASURED_ON, 20, "predict"),
)
PREDICT_TRACED_MIN = Threshold(
    0.2,
    "number",
    "calls of predict on little data that tracing the model once, with its first run, takes, at least",
    Measured("0.2 to 2.0, median 0.9: four small networks, of 2 to 13 layers, twice each", TWO_BUSY_CORES, 8),
)
PREDICT_TRACED_MAX = Threshold(
    2.0,
    "number",
    "calls of predict on little data that tracing the model once, with its first run, takes, at most",
    Measured("see PREDICT_TRACED_MIN", TWO_BUSY_CORES, 8),
)
CALL_LEFT_MIN = Threshold(
    0.05,
    "share",
    "of an eager call of a model, what a compiled call leaves at best",
    Measured(
        "0.02 to 0.25 but for points that waited for a processor, median 0.15; 0.03 to 0.11 in another run",
        MEASURED_ON,
        15,
        "model_call",
    ),
)
CALL_LEFT_MAX = Threshold(
    0.4,
    "share",
    "of an eager call of a model, what a compiled call leaves at worst",
    Measured("see CALL_LEFT_MIN", MEASURED_ON, 15, "model_call"),
)
FIT_LEFT_MIN = Threshold(
    0.01,
    "share",
    "of what fit takes around its batches, what train_on_batch leaves at best",
    Measured("0.010 to 0.071, median 0.024; by hand 0.004 and 0.011", MEASURED_ON, 10, "fit"),
)
FIT_LEFT_MAX = Threshold(
    0.1,
    "share",
    "of what fit takes around its batches, what train_on_batch leaves at worst",
    Measured("see FIT_LEFT_MIN: larger networks leave more", MEASURED_ON, 10, "fit"),
)
BY_BATCH_SAVED_MIN = Threshold(
    0.6,
    "share",
    "of what train_on_batch takes around its compiled step, what a tf.function of one's own saves at worst",
    Measured(
        "0.68 to 1.25, median 0.98; with the loss read back in each step 0.43 to 1.02, median 0.84", TWO_BUSY_CORES, 7
    ),
)
BY_BATCH_SAVED_MAX = Threshold(
    1.0,
    "share",
    "of what train_on_batch takes around its compiled step, what a tf.function of one's own saves at best",
    Measured("see BY_BATCH_SAVED_MIN: handing over to an iterator, inside the graph, goes too", TWO_BUSY_CORES, 7),
)
WEIGHTS_LEFT_MIN = Threshold(
    0.05,
    "share",
    "of weights copied through NumPy, what assigning in a compiled function leaves at best",
    Measured("0.06 at the 10th percentile, median 0.22", MEASURED_ON, 15, "weights"),
)
WEIGHTS_LEFT_MAX = Threshold(
    0.4,
    "share",
    "of weights copied through NumPy, what assigning in a compiled function leaves at worst",
    Measured(
        "most points below 0.44, some waited for a processor; by hand 34.7 ms a step became 20.7 ms, of which these "
        "lines had had 45 to 61 %",
        MEASURED_ON,
        15,
        "weights",
    ),
)

# Gradients that an optimizer estimates.
GRADIENT_MIN = Threshold(
    2.0,
    "number",
    "evaluations of a function that its value with the gradient from a tape cost, usually, at best",
    Cited(
        "Baydin et al. 2018, Automatic Differentiation in Machine Learning: a Survey, JMLR 18(153): typically 2 to 3"
    ),
)
GRADIENT_MAX = Threshold(
    6.0,
    "number",
    "evaluations of a function that its value with the gradient from a tape cost, at worst",
    Cited("the same, of Griewank and Walther, Evaluating Derivatives, 2008: less than 6 by the count of operations"),
)

SEVERAL_CALLS = Threshold(
    2,
    "count",
    "calls in a training step, from which on they could be one",
    Chosen("the fewest that can be joined; one a step may need the step before"),
)

# Work outside of training steps.
MIN_MADE = Threshold(
    10,
    "count",
    "times that a model is made or loaded, from which on it is made in vain",
    Chosen("fewer are the folds of a validation or the trials of a search, each with a model of its own"),
)
MADE_LEFT = Threshold(
    0.1,
    "share",
    "of loading or building a model at each turn, what is left at worst when one is kept",
    Measured("load_model and a direct call 36 ms, the call alone 2.7 ms: 0.065 to 0.095", TWO_BUSY_CORES, 7),
)
SESSION_RUN_MS = Threshold(
    0.2,
    "ms",
    "a call of session.run costs beside what it computes, at least",
    Measured("0.33 ms for one row of 20 numbers, 0.7 ms for 2,500 of them at once", TWO_BUSY_CORES, 7),
)
MIN_SETTING_UP = Threshold(
    0.1,
    "share",
    "of predict's time in making its dataset: from it on it is called again and again, not once for much data",
    Derived("XProf warns of such a share of a step; one predict of many batches makes its dataset once"),
)
PREDICT_BATCH_MS = Threshold(
    2.0,
    "ms",
    "a batch of predict costs around its computing, at most",
    Measured("1.6 ms in 400 batches of one row, 1.3 ms in 200 batches of 32 rows", TWO_BUSY_CORES, 5),
)
BATCHES_LEFT_MAX = Threshold(
    0.5,
    "share",
    "of what predict takes around its computing, what larger batches leave at worst",
    Measured(
        "400 rows in batches of 1 and of 400: 703 and 64 ms; 6,400 rows in batches of 32 and of 1,024: 392 and 149 ms",
        TWO_BUSY_CORES,
        5,
    ),
)
MARKED_MIN = Threshold(
    0.9,
    "share",
    "of a call of a compiled function, what is timed of it, at least",
    Measured("0.93 to 0.99 of calls on eight numbers, median 0.98", TWO_BUSY_CORES, 20),
)
PAUSE_TURNS = Threshold(
    20.0, "number", "times the usual time from call to call: beyond it something else ran", Chosen("as for RARE_SITE")
)
