"""The numbers by which ranks are compared, each with its source (as those of the rules)."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Measured, Threshold

#: As in the rules' own table.
TWO_BUSY_CORES = "two cores shared with other work, TensorFlow 2.21, by hand"

MIN_LATE = Threshold(
    0.1,
    "share",
    "of a step that the others wait for a rank, from which on it is late",
    Chosen("of two real workers in which nothing is planted, one waits for less"),
)
SAME_STEP = Threshold(
    1.2,
    "ratio",
    "of the longest to the shortest of the ranks' mean steps; beyond it their steps are not one exchange's",
    Chosen("ranks that wait for each other at each step have the same mean but for the first and last steps"),
)
MIN_LAST = Threshold(
    0.7,
    "share",
    "of the tens of steps (or traced steps) in which the late rank must be the last",
    Chosen("of two that take turns each is the last in a half"),
)
MIN_KNOWN = Threshold(
    5, "number", "tens of steps, from which on they may contradict the mean", Chosen("of fewer, chance tells as much")
)
MOSTLY_RARE = Threshold(
    0.5, "share", "of the lateness, from which on it comes from single long steps", Derived("the larger half")
)
NOTICED_LATE = Threshold(
    5.0,
    "s",
    "by which the end of a killed rank may be written down later than the failure of one that lost it",
    Chosen("a rank that fails writes when itself; that one was killed another process notices, when it has a turn"),
)
MIN_CAUSE = Threshold(
    0.5, "share", "of the wait, for a cause to be named", Derived("the larger half: no two causes have it")
)
OTHERS_AT_LINE = Threshold(
    0.1,
    "share",
    "of a line's time, what the middle one of the others may spend there where one rank alone does that work",
    Chosen("a tenth of the samples may fall on a neighbouring line"),
)
MORE_WORK = Threshold(
    1.1,
    "ratio",
    "of batches, or of what processors reach, to the median of the others: more work, or slower processors",
    Chosen("a last, smaller batch and the noise of measuring a processor are less"),
)
#: Of a step, what the others' own input takes where they would wait for it if nobody was late.
OWN_PACE = calibration.OWN_PACE
OWN_PACE_SEEN = Threshold(
    0.5,
    "share",
    "the same, where they are seen to wait for their own input too, which is made in the background meanwhile",
    Measured("pipelines that sleep for 60 ms of a step of 61: read as 41 to 54 ms", TWO_BUSY_CORES, 6),
)
OWN_WAIT = Threshold(
    0.05, "share", "of a step, from which on a rank is seen to wait for its input", Chosen("half of MIN_LATE")
)
IN_BACKGROUND = Threshold(
    1.5,
    "ratio",
    "of the time that a pipeline needs for a step to the waiting for it, from which on it works in the background",
    Chosen("one that works only when it is asked has 1; two readings of the same differ by a third"),
)
LIKELY_SAVED = Threshold(
    0.5,
    "share",
    "of the wait, what is taken for saved in the severity where no cause is known",
    Chosen("the middle between nothing and all of it"),
)
