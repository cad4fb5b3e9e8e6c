"""The numbers by which wasted work in a graph is reported and priced, each with its source (as those of the rules)."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Measured, Threshold

_MACHINE = "two cores shared with other work, TensorFlow 2.21, by hand"

MIN_MATRIX = Threshold(
    32, "rows", "of a matrix that is factorised: a smaller one takes no time", Chosen("see MIN_SOLVED")
)
MIN_SOLVED = Threshold(
    200,
    "rows",
    "of a matrix that is solved with: of smaller ones the two triangular solutions take as long",
    Measured("with 128 rows 0.18 and 0.41 ms", _MACHINE, None),
)
SOLVED_LEFT = Threshold(
    0.15,
    "share",
    "of a solution, what two triangular ones take, at least",
    Measured("0.18 with 1,000 rows, 0.32 with 480", _MACHINE, 2),
)
FACTORISING_SLOWER = Threshold(
    3,
    "ratio",
    "what factorising takes, over a product of as many FLOPs",
    Measured("it reaches 0.1 to 0.9 of a product's rate with 480 and 1,000 rows", _MACHINE, None),
)
SEPARATED_SLOWER = Threshold(
    3.3,
    "ratio",
    "what two convolutions, with a column and a row, take over the same part of the one with the whole kernel",
    Measured(
        "by processor time 1.9 to 5.9, median 3.9: one channel, three sizes of pictures, kernels of 5 to 53, at a load "
        "of 6 to 18",
        _MACHINE,
        21,
    ),
)
EACH_SEPARATED_SLOWER = Threshold(
    1.4,
    "ratio",
    "the same where each channel is convolved alone (depthwise)",
    Measured(
        "by processor time 1.1 to 1.8: 3 and 16 channels, kernels of 5, 13 and 27; at a load of 6 to 18", _MACHINE, 6
    ),
)
