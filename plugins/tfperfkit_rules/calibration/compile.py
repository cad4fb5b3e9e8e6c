"""Numbers of the rules about tracing, compiling and XLA."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit_rules.calibration.machines import TWO_BUSY_CORES

ELEMENTWISE = Threshold(
    0.5, "share", "of the step in operations that XLA fuses", Chosen("the larger half of the step, or it is another's")
)
FUSED = Threshold(
    0.8,
    "share",
    "of elementwise operations, what XLA saves at most on a CPU",
    Measured(
        "chains of products, sums, exponentials and softplus over 10 to 1,000,000 numbers ran 0.9 to 5.2 times as fast "
        "(saved up to 0.81), called in turn with the same function without; whole steps 1.25, 2.9 and 3.9 times",
        TWO_BUSY_CORES,
        None,
        "xla_elementwise",
    ),
)
PROPER = Threshold(
    ELEMENTWISE.value / 2,
    "share",
    "of the step in elementwise operations themselves: slices and sums around them are fused too",
    Derived("half of ELEMENTWISE: fusing needs something to fuse with"),
)
LONG_MS = Threshold(
    0.05,
    "ms",
    "of one operation: shorter ones are about handing them over, not about memory",
    Chosen("ten times GRAPH_OP_MAX_MS and more, so at most a tenth of it is handing over"),
)
SLOW_SHARE = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "of the step in sines and the like: with more nothing is said",
    Measured(
        "XLA's sines took up to 5 times as long on a CPU, its tanh 0.13 to 2.1 times; a step with cosines 2.2 to 4.4 "
        "times at a load of 13 and more, 0.5 to 1.3 times at a load of 6",
        TWO_BUSY_CORES,
        None,
    ),
)
PRODUCT_LOST = Threshold(
    0.5,
    "share",
    "of products, what XLA adds on a CPU",
    Measured("they took 0.8 to 2.1 times as long", TWO_BUSY_CORES, None, "xla_product"),
)
CONVOLUTIONS = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step in convolutions: with more nothing is said about XLA on a CPU",
    Measured("XLA's convolutions took 1.1 to 4.4 times as long", TWO_BUSY_CORES, None),
)
MANY_OPERATIONS = Threshold(
    5000, "operations", "XLA is not advised for larger graphs", Chosen("it compiles them for minutes")
)
RUN_SHARE = Threshold(
    2 * calibration.SEVERITY_HIGH.value,
    "share",
    "of the run in tracing and compiling",
    Derived("twice a high share: every run pays some of it, and a longer run less"),
)
RUN_S = Threshold(10.0, "s", "in tracing and compiling", Chosen("shorter waits are not worth a change"))
RUN_SEVERE = Threshold(0.6, "share", "of the run, for severity medium", Chosen("three times a high share"))
SIBLINGS_HEAVY = Threshold(
    48,
    "operations",
    "products and convolutions of a graph, from which on a loop that makes layers side by side is named",
    Chosen("three, with the gradients, for each of sixteen layers"),
)
TRACING = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "of the step in tracing: with more the compilations belong to retraces, which are reported with their cause",
    Derived("the least share that a finding is made for"),
)
INTENSITY = Threshold(
    2.0,
    "FLOPs/byte",
    "from it on arithmetic decides; below, which of XLA and TensorFlow is faster changed with the load",
    Measured("a convolutional step has 10, elementwise ones 0.1", TWO_BUSY_CORES, 2),
)
OUTLIERS = Threshold(
    3, "count", "outliers in compiled functions make a pattern", Chosen("the fewest that are not a pair by chance")
)
OUTLIERS_HALF = Threshold(
    0.5,
    "share",
    "of the compilations in the traced steps, what comes back at least where outliers don't tell",
    Chosen("the larger half might have been the window's"),
)
EACH_STEPS = Threshold(
    5, "steps", "of which the fastest compiles too, for compiling in each", Chosen("fewer show no pattern")
)
WITHOUT_XLA = Threshold(
    5.0,
    "number",
    "what a compiled step takes without XLA, over the own time of its operations with it, at most",
    Measured(
        "convolutions over sequences of 60 to 400 frames: operations of 4.6 ms by XLA, 9.8 ms a call without; steps of "
        "a recurrent network see PRODUCT_LOST and FUSED",
        TWO_BUSY_CORES,
        1,
    ),
)
CERTAIN = Threshold(
    0.10,
    "share",
    "of the step: XLA is blamed when it costs this at the very least",
    Cited("XProf warns of eager execution from 10 % on; the estimate here is as rough as that"),
)
NEAR_LINES = Threshold(
    6, "lines", "a jit_compile=True this far below the head of a function is its own", Chosen("a decorator over lines")
)
