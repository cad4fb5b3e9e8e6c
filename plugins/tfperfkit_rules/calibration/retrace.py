"""Numbers of the rules about traces."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold

EPOCH_APART = Threshold(
    5, "steps", "between retraces that may come from the ends of epochs", Chosen("shorter epochs are no training")
)
REMAINDERS = Threshold(
    3, "count", "new sizes of a batch that may all be remainders", Chosen("of training, validation and test data")
)
NOTICEABLE = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "of the steps' time in a single retrace, from which on it is reported",
    Derived("the least share that a finding is made for"),
)
ORDINARY = Threshold(
    3,
    "steps",
    "without a trace tell what an ordinary one takes",
    Chosen("the fewest with a middle that is no mean of two"),
)
MIN_TRACING = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of steady steps in tracing that no cause explains",
    Derived("XProf's moderate share of one part of a step"),
)
LATE_TRACING = Threshold(
    0.25,
    "share",
    "of the tracing in the later half of the clean steps, or of work whose iterations can't be counted: it goes on",
    Chosen("half of what even tracing would have there; what is traced once stands at the begin"),
)
CERTAIN = Threshold(
    0.7,
    "share",
    "of the tracing in the account, what is promised at least",
    Chosen("some falls into a retrace that had to be"),
)
MAX_SIGNATURE = Threshold(
    4, "count", "arguments of an input_signature that is written out", Chosen("one line of advice")
)
MAX_CAUSES = Threshold(4, "count", "differences between two traces that are shown", Chosen("the rest is counted"))
MAX_USES = Threshold(3, "count", "lines named that use an argument in one way", Chosen("one line of text"))
DEEPEST = Threshold(
    4,
    "count",
    "functions that an argument is followed into, from the traced one inwards",
    Chosen("few programs go deeper"),
)
