"""The numbers by which traces are judged, each with its source (as those of the rules)."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Cited, Threshold

LAUNCH_PS = Threshold(
    10_000_000,
    "ps",
    "a gap before a kernel of no more than this is the launch's own, and a kernel no longer than this is launch-bound",
    Cited("launching a CUDA kernel from the host takes 5 to 10 µs; Nsight Systems' expert rules draw the same line"),
)
REPORTED_SHARE = Threshold(
    0.02,
    "share",
    "what is lost of a step, for a finding",
    Chosen("as SEVERITY_LOW: less is within the noise of a trace"),
)
HOST_SHARE = Threshold(
    0.1,
    "share",
    "of a step, in which a thread fetches its batch or none does anything, from which on the first line says so",
    Chosen("what a change of it may gain is more than two runs of the same differ by"),
)
ROOF_SHARE = Threshold(
    0.5,
    "share",
    "of the machine's peak, from which a kernel is bound by it",
    Cited("XProf's rules ComputeBound and MemoryBound part at 50 % of the peaks (openxla/xprof, constants.h)"),
)
MATRIX_SHARE = Threshold(
    0.2,
    "share",
    "of the kernels' time in matrix products without tensor cores, for a finding",
    Chosen("below it, half precision cannot gain a tenth of the step"),
)
USED_DEVICE = Threshold(
    0.01,
    "share",
    "of the busiest device's time, below which a device counts as not used",
    Chosen("copies that initialise it take less"),
)
MANY_COLLECTIVES = Threshold(
    8,
    "number",
    "small collectives of a step on a device, from which on they are reported as such",
    Chosen("as MANY_EXCHANGES of the rules: a loss and metrics are a handful"),
)
SMALL_COLLECTIVE_MS = Threshold(
    0.05,
    "ms",
    "a collective whose transfer takes no more is small: starting it takes most of that",
    Cited("NCCL's own tests (nccl-tests): 10 to 30 µs for an all-reduce of some bytes within a machine, more between"),
)
