"""The codes of the findings about operations. A code is stable and never reused; each has a page in docs/findings."""

from __future__ import annotations

UNROLLED_LOOP = "OPS001"
BIG_CONSTANT = "OPS002"
FLOAT64 = "OPS003"
PYTHON_CALL = "OPS004"
SIDE_EFFECT = "OPS005"
PRINT = "OPS006"

#: What each code means, without numbers or names: the heading of its page.
TITLES = {
    UNROLLED_LOOP: "A Python loop is unrolled into thousands of operations",
    BIG_CONSTANT: "A large constant is baked into the graph",
    FLOAT64: "A compiled function computes in float64",
    PYTHON_CALL: "A compiled function calls back into Python",
    SIDE_EFFECT: "Python in a tf.function that runs only while it is traced",
    PRINT: "A compiled function prints or checks in every call",
}
