"""The numbers by which wasted work in a graph is reported and priced, each with its source (as those of the rules)."""

from __future__ import annotations

from tfperfkit.calibration import Measured, Threshold

_MACHINE = "two cores shared with other work, TensorFlow 2.21, by hand"

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
