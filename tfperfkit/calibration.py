"""Numbers that rules decide or predict by: a value, its unit, what it is and where it comes from.

A rule states such a number in its own file and takes ``.value`` of it, so that anyone can ask where it comes from and
measure it again. ``docs/calibration.md`` is collected from all modules that state one. ``python -m
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


#: What version 1 of the contract for rules calls it.
Calibration = Threshold


def table(module: ModuleType) -> Iterator[tuple[str, Threshold[int] | Threshold[float]]]:
    """Yield (name, record) of the numbers among a module's names, in their order; imported ones too."""
    for name, value in vars(module).items():
        if isinstance(value, Threshold):
            yield name, value


_XPROF = Cited("XProf's overview page: an input share of 5 % is moderate, of 20 % high (openxla/xprof)")

SEVERITY_HIGH = Threshold(0.20, "share", "what a fix saves of a step, for severity high", _XPROF)
SEVERITY_MEDIUM = Threshold(0.05, "share", "what a fix saves of a step, for severity medium", _XPROF)
SEVERITY_LOW = Threshold(
    0.02,
    "share",
    "what a fix saves of a step, for severity low; below it nothing is predicted",
    Chosen("about what two measured shares of the same run differ by, see WINDOW_ERROR"),
)
MAX_SPEEDUP = Threshold(
    1000.0, "number", "no prediction beyond this factor", Chosen("what is left of a step is never nothing")
)
MAX_SAVED = Threshold(
    1 - 1 / MAX_SPEEDUP.value,
    "share",
    "no fix saves more of a step than this",
    Derived("1 - 1 / MAX_SPEEDUP, the same bound as a share"),
)
WINDOW_ERROR = Threshold(
    0.02,
    "share",
    "what a share that was measured exactly may be wrong by",
    Chosen("the cost of the sampler while windows are open, 2 % of a processor (docs/overhead.md)"),
)
SELDOM_SHARE = Threshold(
    SEVERITY_MEDIUM.value,
    "share",
    "of a loop, what work that is done rarely may take of it, for how often advice says to do it",
    Chosen("from there on it would be a finding again"),
)
Z_95 = Threshold(1.96, "number", "normal quantile of a two-sided 95 % interval", Cited("Wilson 1927, JASA 22, 209"))

# What samples and steps must show.
MIN_SAMPLES = Threshold(
    20,
    "samples",
    "fewer don't tell shares",
    Chosen("with fewer the 95 % interval of a half goes beyond 0.3 and 0.7"),
)
MIN_BETWEEN = Threshold(
    0.3,
    "share",
    "of a step's time that passes between two, for it to be reported beside it",
    Chosen("about a quarter of the loop"),
)
OUTLIER_Z = Threshold(
    3.5, "number", "modified z-score of an outlier", Cited("Iglewicz and Hoaglin 1993; XProf's rule for stragglers")
)
OUTLIER_SCALE = Threshold(
    0.6745,
    "number",
    "median absolute deviation of the standard normal distribution",
    Cited("as OUTLIER_Z"),
)
OUTLIER_SHARE = Threshold(
    0.3,
    "share",
    "of the median, by which an outlier is longer too",
    Chosen("on a shared machine jitter alone passes the z-score"),
)
OUTLIER_NS = Threshold(
    1_000_000,
    "ns",
    "by which an outlier is longer too",
    Chosen("about a turn of the scheduler"),
)
OUTLIER_STEPS = Threshold(8, "steps", "fewer clean ones have no outliers", Chosen("of fewer the spread is a guess"))
EXPLAINS_OUTLIER = Threshold(
    0.3, "share", "of what an outlier took beyond the ordinary, for its cause", Chosen("no three others are as large")
)
EXPLAINS_ALONE = Threshold(
    0.7,
    "share",
    "with less of it the rest goes to what else the samples saw",
    Chosen("all but EXPLAINS_OUTLIER"),
)
OWN_PACE = Threshold(
    0.8,
    "share",
    "of a step, what a pipeline needs for a batch where it sets the pace of the step",
    Chosen("the rest is what passes between two batches, and what two readings of a pipeline differ by"),
)
OUTLIER_SAMPLES = Threshold(3, "samples", "of an outlier, to tell its cause", Chosen("the fewest with a majority"))
BUSY = Threshold(
    0.10,
    "share",
    "of the steady time in which the training thread waited for a processor: times are called rough from here on",
    Chosen("twice a moderate share: the wait alone could make a finding"),
)
BUSY_NS = Threshold(
    1_000_000_000, "ns", "of clean steps: less tells no share", Chosen("some hundred turns of the scheduler")
)

# What the report says of the whole run.
TRAINING_SHARE = Threshold(
    0.9,
    "share",
    "of the time since TensorFlow was imported: with less of it in training steps, the report shows the run's account",
    Chosen("a tenth of a run is worth a line"),
)
RUN_PART = Threshold(0.01, "share", "of the run: smaller parts are shown as one", Chosen("half of a cell of the bar"))
CHILDREN_SHARE = Threshold(
    0.1,
    "share",
    "of the run that it waits for child processes, for a note that they are not recorded",
    Chosen("the complement of TRAINING_SHARE"),
)

# What the diagnosis does with findings.
WIDEST_RANGE = Threshold(
    10.0,
    "ratio",
    "of a predicted range's ends: a gain that is known no better is reported by its lower end alone",
    Chosen("an order of magnitude: a factor and its tenfold lead to different decisions"),
)
MAX_SAMPLED = Threshold(
    100.0,
    "number",
    "times as fast: beyond it samples don't tell, so a range that ends there has no upper end, and its lower end is "
    "reported",
    Chosen("a share of 0.99 of 500 samples is 0.977 to 0.996, a factor of 43 to 240"),
)
UNKNOWN_PART = Threshold(
    0.5,
    "share",
    "of what something costs, that counts as its gain where nothing tells how much of it can go",
    Chosen("the middle: as likely little as all of it"),
)
EXPLAINS = Threshold(
    0.5, "share", "of what a finding costs, for another that it is folded into", Chosen("the larger half is explained")
)
ON_EPOCHS = Threshold(
    0.7, "share", "of the late steps' time that falls on beginnings of epochs", Chosen("clearly more than half")
)
OF_EPOCHS = Threshold(0.5, "share", "of the beginnings of epochs that are late", Chosen("the larger half"))
MIN_EPOCH = Threshold(3, "steps", "of an epoch", Chosen("with two every other step is a first one"))
CLEAR = Threshold(
    0.1, "share", "of the largest outlier: smaller ones are jitter", Chosen("ten of them change nothing of the sum")
)
MAX_LATE = Threshold(200, "count", "outliers that are looked at", Chosen("each pair of them is: 20,000"))
TOLD_SPAN = Threshold(
    0.1,
    "share",
    "of a work's time that a breakdown of its iterations, or of its longest stretch, is of, from which on it is shown",
    Chosen("of nine tenths of it less would be known than one line says"),
)
TOLD_OTHER = Threshold(
    0.5, "share", "of such a breakdown that nothing explains, beyond which it is not shown", Chosen("the larger half")
)
FREED_MIN_S = Threshold(
    0.5, "s", "of waits for iterators that are freed, in all", Chosen("less nobody notices in a run")
)
FREED_APART_S = Threshold(
    1.0,
    "s",
    "between two samples, beyond which they are not of one such wait",
    Derived("twice the rarest rate of the samples, one in 0.5 s"),
)
SHORTEST_FREED_S = Threshold(
    0.1,
    "s",
    "that the main thread waits while an iterator is freed: what is shorter is not told from a moment's work",
    Chosen("a few samples"),
)
MIN_WORK = Threshold(
    0.1,
    "share",
    "of the run, for a loop or a call outside of training steps to be work with an account of its own",
    Chosen("what takes less can gain no more than that"),
)
NEARLY_ALL = Threshold(
    0.9,
    "share",
    "of a loop's time in one within it, which then repeats the work",
    Chosen("a tenth is no work of its own"),
)
OWNED = Threshold(
    0.1,
    "share",
    "of an account, for a part that no finding explains to be reported",
    Chosen("what takes less gains less"),
)
LOUD_RESIDUAL = Threshold(
    0.3,
    "share",
    "of an account, from which a part without a cause is more than a remark",
    Chosen("a third of the time is worth a look even where no cause is known"),
)
LARGE_HEADROOM = Threshold(
    1.25,
    "number",
    "a factor from which headroom is the first line's, where nothing is wrong",
    Chosen("a quarter more examples a second; a smaller factor is within what runs of a script differ by"),
)
MAX_HEADROOM = Threshold(4, "count", "choices that are reported as headroom", Chosen("the best are tried first"))
NEAR_LIMIT = Threshold(
    0.5,
    "share",
    "of the machine's arithmetic, from which a step that computes has nothing left to gain",
    Chosen("what is left is less than a factor of two"),
)
LONG_OPERATIONS = Threshold(
    0.05,
    "share",
    "of eager operations' own time in the Python that hands them out, below which they are long and compute",
    Derived("handing out takes some 5 us of Python for each, and an operation of a tenth of a millisecond computes"),
)
OTHER_TRAINING_MAX = Threshold(
    0.25,
    "share",
    "of the clean steps' time, of the training in which the windows were, where they say little of the whole",
    Chosen("with more, what they saw is a good part of what the run does"),
)
MAIN_TRAINING_MIN = Threshold(
    0.5, "share", "of the clean steps' time, of another training that windows should see", Chosen("the larger half")
)
APART_MIN = Threshold(
    0.95,
    "share",
    "of a training's samples that come after the last of the one before",
    Chosen("lines of one loop are sampled in turn, two trainings one after the other"),
)
SOUND = Threshold(
    0.75,
    "share",
    "of a healthy step in compiled functions: with less there may be something to gain that no rule knows",
    Chosen("a quarter of a step is more than a high share"),
)
