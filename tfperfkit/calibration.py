"""Numbers that rules decide or predict by: a value, its unit, what it is and where it comes from.

A rule defines such a number in its own file and takes ``.value``, so that anyone can ask for its source and measure it
again. ``benchmarks/results/calibration.md`` is collected from all modules that state one. ``python -m
benchmarks.calibrate``, in a checkout, measures the physical ones again. The numbers of the core, which rules use
through ``tfperfkit.gain``, are in this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Generic, TypeVar

import msgspec

N = TypeVar("N", int, float)


class Cited(msgspec.Struct, frozen=True):
    """Taken from somewhere else: a paper, another tool or TensorFlow itself, with its file if that is known."""

    text: str


class Measured(msgspec.Struct, frozen=True):
    """Found by measuring. ``found``: what the points said. ``points``: how many points, None if nobody noted it.
    ``by``: the measure in ``benchmarks/costs`` that repeats it, "" if no program does."""

    found: str
    machine: str
    points: int | None
    by: str = ""


class Derived(msgspec.Struct, frozen=True):
    """Computed from other numbers. ``how``: the formula, or the reason."""

    how: str


class Chosen(msgspec.Struct, frozen=True):
    """None of these: where a line was drawn. ``why``: the reason."""

    why: str


Source = Cited | Measured | Derived | Chosen


class Threshold(msgspec.Struct, Generic[N], frozen=True):
    """One number. ``unit`` is that of a ``tfperfkit.model.Measurement``, or words; ``says`` is what the number is."""

    value: N
    unit: str
    says: str
    source: Source


#: Name of ``Threshold`` in version 1 of the contract for rules.
Calibration = Threshold


def table(module: ModuleType) -> Iterator[tuple[str, Threshold[int] | Threshold[float]]]:
    """Yield (name, record) of the numbers among a module's names, in their order; imported ones too."""
    for name, value in vars(module).items():
        if isinstance(value, Threshold):
            yield name, value


_XPROF = Cited("XProf's overview page: an input share of 5 % is moderate, of 20 % high (openxla/xprof)")

SEVERITY_HIGH = Threshold(
    0.20, "share", "share of the run, without imports and its end, that a fix saves, for severity high", _XPROF
)
SEVERITY_MEDIUM = Threshold(0.05, "share", "the same, for severity medium", _XPROF)
SEVERITY_LOW = Threshold(
    0.02,
    "share",
    "share of a step that a fix saves, for severity low; below it nothing is predicted",
    Chosen("about the difference between two measured shares of the same run, see WINDOW_ERROR"),
)
MAX_SPEEDUP = Threshold(
    1000.0, "number", "largest factor that is predicted", Chosen("something always remains of a step")
)
MAX_SAVED = Threshold(
    1 - 1 / MAX_SPEEDUP.value,
    "share",
    "largest share of a step that a fix saves",
    Derived("1 - 1 / MAX_SPEEDUP, the same bound as a share"),
)
WINDOW_ERROR = Threshold(
    0.02,
    "share",
    "error of a share that was measured exactly",
    Chosen("the cost of the sampler while windows are open, 2 % of a CPU core (benchmarks/results/overhead.md)"),
)
SELDOM_SHARE = Threshold(
    SEVERITY_MEDIUM.value,
    "share",
    "maximum share of a loop in work that is done rarely, which decides how often advice says to do it",
    Chosen("a larger share would be a finding again"),
)
Z_95 = Threshold(1.96, "number", "normal quantile of a two-sided 95 % interval", Cited("Wilson 1927, JASA 22, 209"))

# Samples and steps.
MIN_SAMPLES = Threshold(
    20,
    "samples",
    "minimum number of samples that tell a share",
    Chosen("with fewer the 95 % interval of a half goes beyond 0.3 and 0.7"),
)
MIN_BETWEEN = Threshold(
    0.3,
    "share",
    "minimum ratio of the time between two steps to the time of a step, for it to be reported",
    Chosen("about a quarter of the loop"),
)
OUTLIER_Z = Threshold(
    3.5, "number", "modified z-score of an outlier", Cited("Iglewicz and Hoaglin 1993; XProf's rule for stragglers")
)
OUTLIER_SCALE = Threshold(
    0.6745, "number", "median absolute deviation of the standard normal distribution", Cited("as OUTLIER_Z")
)
OUTLIER_SHARE = Threshold(
    0.3,
    "share",
    "minimum share of the median by which an outlier is longer",
    Chosen("jitter on a shared machine alone can exceed the z-score threshold"),
)
OUTLIER_NS = Threshold(
    1_000_000, "ns", "minimum time by which an outlier is longer", Chosen("about a time slice of the scheduler")
)
OUTLIER_STEPS = Threshold(
    8, "steps", "minimum number of clean steps for outliers", Chosen("with fewer the spread is a guess")
)
EXPLAINS_OUTLIER = Threshold(
    0.3, "share", "minimum share of an outlier's excess time in its cause", Chosen("no three others are as large")
)
EXPLAINS_ALONE = Threshold(
    0.7,
    "share",
    "share of an outlier's excess time below which the rest goes to what else the samples saw",
    Chosen("all but EXPLAINS_OUTLIER"),
)
OWN_PACE = Threshold(
    0.8,
    "share",
    "minimum share of a step that a pipeline needs for a batch, for it to set the pace of the step",
    Chosen("the rest is the time between two batches, and the difference between two readings of a pipeline"),
)
OUTLIER_SAMPLES = Threshold(
    3, "samples", "minimum number of samples of an outlier that tell its cause", Chosen("the fewest with a majority")
)
BUSY = Threshold(
    0.10,
    "share",
    "share of the steady time in which the training thread waited for a CPU, above which times are called approximate",
    Chosen("twice a moderate share: the wait alone could make a finding"),
)
BUSY_NS = Threshold(
    1_000_000_000,
    "ns",
    "minimum time in clean steps that tells such a share",
    Chosen("some hundred time slices of the scheduler"),
)

# The report on the whole run.
TRAINING_SHARE = Threshold(
    0.9,
    "share",
    "share of the time since TensorFlow's import in training steps, below which the report shows the run's account",
    Chosen("a tenth of a run is worth a line"),
)
RUN_PART = Threshold(
    0.01, "share", "minimum share of the run for a part to be shown by itself", Chosen("half of a cell of the bar")
)
CHILDREN_SHARE = Threshold(
    0.1,
    "share",
    "minimum share of the run spent waiting for child processes, for a note that they are not recorded",
    Chosen("the complement of TRAINING_SHARE"),
)

# The diagnosis of findings.
TIED = Threshold(
    0.25,
    "share",
    "probability that a finding saves more than one before it, from which the report doesn't tell them apart",
    Chosen("at one in four a reader who wants the largest saving should try both"),
)
CONTENDED = Threshold(
    0.3,
    "share",
    "maximum cost of work next to a busy step, beyond its part of the cores",
    Measured(
        "a prefetch added to a pipeline without one left 0.5 to 0.8 of the wait",
        "two cores shared with other work, TensorFlow 2.21, by hand",
        None,
    ),
)
MAX_SAMPLED = Threshold(
    100.0,
    "number",
    "largest factor that samples can tell: no remedy is said to gain more",
    Chosen("a share of 0.99 of 500 samples is 0.977 to 0.996, a factor of 43 to 240"),
)
UNKNOWN_PART = Threshold(
    0.5,
    "share",
    "share of a cost that counts as its gain, if nothing tells how much of it is saved",
    Chosen("the middle between nothing and all of it"),
)
MANY_ROWS = Threshold(
    1_000,
    "rows",
    "minimum number of rows of an argument that a report states",
    Chosen("a sample of fewer rows than that saves little"),
)
EXPLAINS = Threshold(
    0.5,
    "share",
    "minimum share of a finding's cost in another finding that it is folded into",
    Chosen("the larger half is explained"),
)
ON_EPOCHS = Threshold(
    0.7, "share", "minimum share of the late steps' time at the beginning of epochs", Chosen("clearly more than half")
)
OF_EPOCHS = Threshold(
    0.5, "share", "minimum share of the beginnings of epochs that are late", Chosen("the larger half")
)
MIN_EPOCH = Threshold(
    3, "steps", "minimum number of steps of an epoch", Chosen("with two every other step is a first one")
)
CLEAR = Threshold(
    0.1,
    "share",
    "minimum ratio of an outlier to the largest one: smaller ones are jitter",
    Chosen("ten of them don't change the sum"),
)
MAX_LATE = Threshold(
    200, "count", "number of outliers that are looked at", Chosen("each pair of them is looked at: 20,000")
)
MIN_REPORTED_SPAN = Threshold(
    0.1,
    "share",
    "minimum share of a work's time that a breakdown covers, for it to be shown",
    Chosen("with less, nine tenths would be unknown"),
)
MAX_OTHER_SHOWN = Threshold(
    0.5,
    "share",
    "maximum share of such a breakdown that nothing explains, for it to be shown",
    Chosen("the larger half"),
)
FREED_MIN_S = Threshold(
    0.5, "s", "minimum time of all waits for iterators that are destroyed", Chosen("nobody notices less in a run")
)
FREED_APART_S = Threshold(
    1.0,
    "s",
    "maximum time between two samples of one such wait",
    Derived("twice the longest time between samples, 0.5 s"),
)
SHORTEST_FREED_S = Threshold(
    0.1,
    "s",
    "shortest wait of the main thread while an iterator is destroyed: a shorter one can't be told from a moment's work",
    Chosen("a few samples"),
)
MIN_WORK = Threshold(
    0.1,
    "share",
    "minimum share of the run for a loop or call outside of training steps to have an account of its own",
    Chosen("what takes less can't gain more"),
)
NEARLY_ALL = Threshold(
    0.9,
    "share",
    "minimum share of a loop's time in an inner loop that repeats the work",
    Chosen("a tenth is no work of its own"),
)
MIN_UNEXPLAINED = Threshold(
    0.1,
    "share",
    "minimum share of an account for a part that no finding explains to be reported",
    Chosen("what takes less gains less"),
)
LOUD_RESIDUAL = Threshold(
    0.3,
    "share",
    "minimum share of an account for a part without a cause to be more than a remark",
    Chosen("a third of the time is worth a look even if no cause is known"),
)
LARGE_HEADROOM = Threshold(
    1.25,
    "number",
    "minimum factor for headroom to be the headline, if nothing is wrong",
    Chosen("a quarter more examples per second; runs of a script differ by a smaller factor"),
)
MAX_HEADROOM = Threshold(
    4, "count", "number of choices that are reported as headroom", Chosen("the best are tried first")
)
NEAR_LIMIT = Threshold(
    0.5,
    "share",
    "minimum share of the machine's arithmetic for a step with nothing left to gain",
    Chosen("less than a factor of two is left"),
)
LONG_OPERATIONS = Threshold(
    0.05,
    "share",
    "maximum ratio of dispatching Python to eager operations' own time, for operations that compute",
    Derived(
        "dispatch takes some 5 us of Python for each operation, and an operation of a tenth of a millisecond computes"
    ),
)
OTHER_TRAINING_MAX = Threshold(
    0.25,
    "share",
    "maximum share of the clean steps' time in the training with the windows, for them to say little about the "
    "whole run",
    Chosen("with more, they saw a good part of the run"),
)
MAIN_TRAINING_MIN = Threshold(
    0.5,
    "share",
    "minimum share of the clean steps' time in another training that windows should see",
    Chosen("the larger half"),
)
APART_MIN = Threshold(
    0.95,
    "share",
    "minimum share of a training's samples after the last sample of the training before",
    Chosen("lines of one loop are sampled in turn, two trainings one after the other"),
)
SOUND = Threshold(
    0.75,
    "share",
    "minimum share of a healthy step in compiled functions: with less there may be a gain that no rule knows",
    Chosen("a quarter of a step is more than a high share"),
)
