"""The numbers by which traces are judged, each with its source (as those of the rules)."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Cited, Threshold

LAUNCH_PS = Threshold(
    10_000_000,
    "ps",
    "maximum gap before a kernel that is the launch's own, and maximum length of a kernel that is launch-bound",
    Cited("launching a CUDA kernel from the host takes 5 to 10 µs; Nsight Systems' expert rules draw the same line"),
)
HOST_SHARE = Threshold(
    0.1,
    "share",
    "minimum share of a step in which a thread fetches its batch or none does anything, for the headline to say so",
    Chosen("what a change may gain is more than the difference between two runs"),
)
ROOF_SHARE = Threshold(
    0.5,
    "share",
    "minimum share of the machine's peak for a kernel that is bound by it",
    Cited("XProf's rules ComputeBound and MemoryBound part at 50 % of the peaks (openxla/xprof, constants.h)"),
)
USED_DEVICE = Threshold(
    0.01,
    "share",
    "share of the busiest device's time below which a device counts as unused",
    Chosen("copies that initialise it take less"),
)
