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

#: The meaning of each code, without numbers or names: the heading of its page.
TITLES = {
    REPEATED_FORWARD: "Same forward pass runs twice in one step",
    METRICS: "Metrics or tf.summary computed in every step",
    SLOW_LAYER: "Keras layer runs far slower than similar layers",
    REPEATED_GRADIENTS: "tape.gradient called once per loss term",
    SMALL_LOOP: "tf.map_fn or tf.while_loop runs many tiny iterations",
    DENSE_UPDATE: "Adam updates all rows of an Embedding table",
    SLOW_KERNEL: "Matrix decomposition (tf.linalg) dominates the step",
    APART_TURNS: "Unrolled loop in tf.function with independent iterations",
    FIXED_WORK: "Frozen layers recompute the same features every epoch",
    PADDING: "Sequences are mostly padding (pad_sequences, padded_batch)",
    UNROLLED_LOOP: "Python loop in tf.function unrolled into thousands of operations",
    BIG_CONSTANT: "NumPy array baked into the graph as a constant",
    FLOAT64: "tf.function computes in float64",
    PYTHON_CALL: "tf.py_function or tf.numpy_function called in every step",
    SIDE_EFFECT: "Python side effect in tf.function runs only while tracing",
    PRINT: "tf.print or tf.debugging checks in every call",
}
