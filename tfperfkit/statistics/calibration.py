"""The numbers that comparisons use, with their sources."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Cited, Measured, Threshold

RUN_SPREAD = Threshold(
    0.01,
    "share",
    "by how much (standard deviation) the steady step time of runs of the same thing differs beyond the noise of steps",
    Chosen("between the 0.3 % of a quiet job and the several per cent of a shared machine; measured on none"),
)
PAIR_SPREAD = Threshold(
    0.003,
    "share",
    "runs in one job differ by no less than this, however alike the few that were measured came out",
    Cited("a public report: 0.3 % within one job, 26 % between jobs (namecheap/fast_mail_parser#128)"),
)
PROCESSOR_SPREAD = Threshold(
    0.10,
    "share",
    "by how much (standard deviation) the processor time of a steady step differs between runs of the same thing",
    Measured("0.10 and 0.03 in two small scripts; by the clock 0.36 and 0.21", "two cores, load 7 to 12", 8),
)
OUTLIER_Z = Threshold(
    5.0,
    "number",
    "a step is an outlier that is so many standard deviations (from the median absolute deviation) above the median",
    Chosen("one ordinary step in three million lies so far off"),
)
MAX_OUTLIERS = Threshold(
    0.10,
    "share",
    "where as many steps as this are outliers, they belong to the ordinary way of the run, and are none",
    Chosen("what comes once in ten steps or oftener is part of the loop"),
)
MIN_BLOCKS = Threshold(
    10,
    "count",
    "blocks into which a series is cut, at least, where these are an autocorrelation time long",
    Chosen("below it t is wide, and the spread is not known"),
)
FEWEST_BLOCKS = Threshold(
    5,
    "count",
    "where a series is no longer than so many autocorrelation times, no interval is given",
    Chosen("three degrees of freedom are left of five blocks; the interval of fewer says nothing"),
)
MAX_BLOCKS = Threshold(
    40, "count", "and at most", Chosen("more make t no narrower, and shorter blocks are less independent of each other")
)
BLOCK_TIMES = Threshold(
    4.0,
    "number",
    "autocorrelation times in a block",
    Chosen("the means of neighbours that long have a correlation below 0.15 in simulated AR(1) series"),
)
MIN_STEPS = Threshold(
    30, "count", "steps of a series, at least, for an interval", Chosen("three in a block, in the fewest blocks")
)
MAX_DEPENDENCE = Threshold(
    0.8,
    "number",
    "the correlation of neighbouring blocks is taken for no more than this",
    Chosen("beyond it the series is shorter than its own memory, and its spread cannot be told from it"),
)
