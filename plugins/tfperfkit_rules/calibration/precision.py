"""Numbers of the rules about number formats."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit_rules.calibration.machines import MEASURED_ON

HALF_SHARE = Threshold(
    0.10,
    "share",
    "of the FLOPs in 16 bits: with less they are not used",
    Cited("XProf's overview page and the PyTorch profiler advise 16 bits below it"),
)
CAPABILITY = Threshold(
    7,
    "number",
    "major compute capability from which on a GPU has tensor cores (Volta)",
    Cited("the PyTorch profiler's and DLProf's rule; Nvidia's CUDA Programming Guide"),
)
FLOAT64_WIDTH = Threshold(
    2.0,
    "number",
    "times the time of float32, that what grows with the numbers takes in float64",
    Derived("twice the bytes"),
)
HALF_SAVED_MIN = Threshold(
    0.5,
    "share",
    "of products and convolutions in float16 on a CPU, what float32 saves at least",
    Measured(
        "a convolution with its gradients 0.70 to 0.95, forward alone 0.1 to 0.6, a product -0.1 to 0.2, "
        "elementwise work 0.1 to 0.4; by hand a product 0.41 to 0.8. bfloat16 is not judged: faster and slower than "
        "float32, by the shape, on a processor that has it",
        MEASURED_ON,
        20,
        "float16",
    ),
)
HALF_SAVED_MAX = Threshold(
    0.95,
    "share",
    "of compiled functions in float16 on a CPU, what float32 saves at most",
    Measured("see HALF_SAVED_MIN", MEASURED_ON, 20, "float16"),
)
BFLOAT16_TIMES = Threshold(
    1.3,
    "ratio",
    "of a product in bfloat16 to one in float32 on the processor, from which 16 bits are offered",
    Chosen("a smaller one goes into converting to and fro"),
)
BFLOAT16_ELEMENTWISE = Threshold(
    4,
    "ratio",
    "by which operations that work number by number are slower in bfloat16 on a processor, at least",
    Measured("4 to 9 times, on a processor with avx512_bf16", MEASURED_ON, None),
)
BFLOAT16_CONVOLUTION = Threshold(
    2,
    "ratio",
    "by which a convolution may be slower in bfloat16 there",
    Measured("1.5 times faster to 2 times slower, by its shape, on a processor with avx512_bf16", MEASURED_ON, None),
)
