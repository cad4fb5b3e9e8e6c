"""The codes of what graphs show. A code is stable and never reused; each has a page in docs/findings."""

from __future__ import annotations

REPEATED_FORWARD = "GRF001"
METRICS = "GRF002"
SLOW_LAYER = "GRF003"
REPEATED_GRADIENTS = "GRF004"
SMALL_LOOP = "GRF005"
DENSE_UPDATE = "GRF006"
SLOW_KERNEL = "GRF007"
APART_TURNS = "GRF008"
FIXED_WORK = "GRF009"
PADDING = "GRF018"
UNROLLED_LOOP = "OPS001"
BIG_CONSTANT = "OPS002"
FLOAT64 = "OPS003"
PYTHON_CALL = "OPS004"
SIDE_EFFECT = "OPS005"
PRINT = "OPS006"

#: What each code means, without numbers or names: the heading of its page.
TITLES = {
    REPEATED_FORWARD: "A step runs the same forward pass twice",
    METRICS: "Metrics or summaries take a good part of every step",
    SLOW_LAYER: "A layer computes far more slowly than its neighbours",
    REPEATED_GRADIENTS: "A backward pass for each loss term",
    SMALL_LOOP: "A loop in a compiled function does next to nothing in an iteration",
    DENSE_UPDATE: "An optimizer updates all rows of an embedding",
    SLOW_KERNEL: "Much of a step is an operation that no processor is fast at",
    APART_TURNS: "An unrolled loop whose iterations don't need each other",
    FIXED_WORK: "Layers that never change compute the same in each epoch",
    PADDING: "Sequences are mostly padding",
    UNROLLED_LOOP: "A Python loop is unrolled into thousands of operations",
    BIG_CONSTANT: "A large constant is baked into the graph",
    FLOAT64: "A compiled function computes in float64",
    PYTHON_CALL: "A compiled function calls back into Python",
    SIDE_EFFECT: "Python in a tf.function that runs only while it is traced",
    PRINT: "A compiled function prints or checks in every call",
}
