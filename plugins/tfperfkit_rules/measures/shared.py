"""Numbers that several families of rules use: bounds of what counts, and of what is shown."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold

# Bounds of what counts.
MAX_STEP_SHARE = Threshold(
    1 - 1 / calibration.MAX_SAMPLED.value,
    "share",
    "maximum share of a step that a rule says is saved",
    Derived("MAX_SAMPLED, 100 times as fast, as a share"),
)
MAX_RUN_SHARE = Threshold(
    0.95,
    "share",
    "maximum share of a run, or of its steps, that a rule says is tracing",
    Chosen("beyond it the run was too short to tell, not 20 times slower than it could be"),
)
MIN_REST_MS = Threshold(
    0.001,
    "ms",
    "lower bound for the rest of a step: it is a divisor",
    Chosen("the parts of an account need not add up to the last digit"),
)
LEFT_MIN = Threshold(
    0.1,
    "share",
    "minimum share of a part of the step that remains when what disturbs it goes",
    Chosen("at more than ten times as fast, what was measured of the disturbance is wrong"),
)
NEARLY_ALWAYS = Threshold(
    0.9,
    "share",
    "minimum share of the samples of a line, or of the steps, for 'each time'",
    Chosen("beginnings, ends and samples on neighbouring lines are the rest"),
)
MOSTLY = Threshold(0.5, "share", "minimum share for 'mostly', and for 'in each step'", Chosen("the larger half"))
LOOP_SHARE = Threshold(
    0.7,
    "share",
    "minimum share of the time of a function's lines in a loop that is named instead of them",
    Chosen("clearly more than half, and lines before and after the loop may take some"),
)
RARE_SITE = Threshold(
    0.05,
    "share",
    "minimum ratio of the calls of a place to those of the busiest place: rarer ones build something or belong to "
    "another phase",
    Chosen("an epoch of 20 steps or more has its own places in less than one step of 20"),
)

# How much is shown; none of these decides whether something is found.
MAX_PLACES = Threshold(5, "count", "number of places of a finding that are shown", Chosen("what a user looks through"))
MAX_FINDINGS = Threshold(
    3, "count", "number of findings of one rule for several places", Chosen("the costliest; the rest later")
)
MAX_LINE = Threshold(60, "characters", "length of a source line that a sentence quotes", Chosen("half a line of 120"))

FUNCTIONS_DEEP = Threshold(
    3,
    "count",
    "number of nested calls that are followed from a line",
    Chosen("few programs pass one thing through more"),
)
