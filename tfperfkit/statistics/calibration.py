"""The numbers that comparisons use, with their sources."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Cited, Measured, Threshold

RUN_SPREAD = Threshold(
    0.01,
    "share",
    "standard deviation of the steady step time between runs of the same thing, beyond the noise of steps",
    Chosen("between the 0.3 % of a quiet job and the several per cent of a shared machine; measured on none"),
)
PAIR_SPREAD = Threshold(
    0.003,
    "share",
    "minimum difference between runs in one job, however alike the few that were measured are",
    Cited("a public report: 0.3 % within one job, 26 % between jobs (namecheap/fast_mail_parser#128)"),
)
PROCESSOR_SPREAD = Threshold(
    0.10,
    "share",
    "standard deviation of the CPU time of a steady step between runs of the same thing",
    Measured("0.10 and 0.03 in two small scripts; of wall-clock time 0.36 and 0.21", "two cores, load 7 to 12", 8),
)
OUTLIER_Z = Threshold(
    5.0,
    "number",
    "minimum distance of an outlier above the median, in standard deviations (from the median absolute deviation)",
    Chosen("one ordinary step in three million is as far away"),
)
MAX_OUTLIERS = Threshold(
    0.10,
    "share",
    "maximum share of steps that are outliers: more belong to the ordinary course of the run",
    Chosen("what happens once in ten steps or more often is part of the loop"),
)
MIN_BLOCKS = Threshold(
    10,
    "count",
    "minimum number of blocks into which a series is cut, if they are an autocorrelation time long",
    Chosen("below it t is wide, and the spread is unknown"),
)
FEWEST_BLOCKS = Threshold(
    5,
    "count",
    "minimum length of a series in autocorrelation times for an interval",
    Chosen("three degrees of freedom are left of five blocks; an interval of fewer says nothing"),
)
MAX_BLOCKS = Threshold(
    40,
    "count",
    "maximum number of blocks into which a series is cut",
    Chosen("more make t no narrower, and shorter blocks are less independent of each other"),
)
BLOCK_TIMES = Threshold(
    4.0,
    "number",
    "length of a block in autocorrelation times",
    Chosen("the means of neighbours that long have a correlation below 0.15 in simulated AR(1) series"),
)
MIN_STEPS = Threshold(
    30, "count", "minimum number of steps of a series for an interval", Chosen("three in a block, in the fewest blocks")
)
MAX_DEPENDENCE = Threshold(
    0.8,
    "number",
    "largest correlation of neighbouring blocks that is used",
    Chosen("beyond it the series is shorter than its own memory, and its spread can't be told from it"),
)
