"""The numbers by which ranks are compared, each with its source (as those of the rules)."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Measured, Threshold

#: As in the rules' own table.
TWO_BUSY_CORES = "two cores shared with other work, TensorFlow 2.21, by hand"

MIN_LATE = Threshold(
    0.1,
    "share",
    "minimum share of a step that other ranks wait for a late rank",
    Chosen("of two real workers without a fault one waits for less"),
)
SAME_STEP = Threshold(
    1.2,
    "ratio",
    "maximum ratio of the longest to the shortest mean step of ranks whose steps are of one exchange",
    Chosen("ranks that wait for each other in each step have the same mean but for the first and last steps"),
)
MIN_LAST = Threshold(
    0.7,
    "share",
    "minimum share of the tens of steps (or traced steps) in which the late rank is the last",
    Chosen("of two that alternate each is the last in a half"),
)
MIN_KNOWN = Threshold(
    5,
    "number",
    "minimum number of tens of steps that may contradict the mean",
    Chosen("with fewer chance tells as much"),
)
MOSTLY_RARE = Threshold(
    0.5, "share", "minimum share of the lateness that comes from single long steps", Derived("the larger half")
)
NOTICED_LATE = Threshold(
    5.0,
    "s",
    "maximum time by which the end of a killed rank may be written later than the failure of one that lost it",
    Chosen("a rank that fails writes when; another process notices that a rank was killed, when it runs next"),
)
MIN_CAUSE = Threshold(
    0.5, "share", "minimum share of the wait for a cause to be named", Derived("the larger half: no two causes have it")
)
OTHERS_AT_LINE = Threshold(
    0.1,
    "share",
    "maximum share of a line's time that the median of the other ranks spends there, if one rank alone does that work",
    Chosen("a tenth of the samples may be of a neighbouring line"),
)
MORE_WORK = Threshold(
    1.1,
    "ratio",
    "minimum ratio of a rank's batches, or CPU rate, to the median of the others: more work, or a slower CPU",
    Chosen("a last, smaller batch and the noise of measuring a CPU are less"),
)
#: Share of a step that the others' own input takes if they would wait for it when nobody was late.
OWN_PACE = calibration.OWN_PACE
OWN_PACE_SEEN = Threshold(
    0.5,
    "share",
    "the same as OWN_PACE, for ranks that are seen to wait for their own input, which is prepared in the "
    "background meanwhile",
    Measured("pipelines that sleep for 60 ms of a step of 61: measured as 41 to 54 ms", TWO_BUSY_CORES, 6),
)
OWN_WAIT = Threshold(
    0.05, "share", "minimum share of a step for a rank to be seen to wait for its input", Chosen("half of MIN_LATE")
)
IN_BACKGROUND = Threshold(
    1.5,
    "ratio",
    "minimum ratio of the time that a pipeline needs for a step to the wait for it, for a pipeline that works in "
    "the background",
    Chosen("one that works only on request has 1; two readings of the same differ by a third"),
)
