"""Numbers of the rules about memory."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Cited, Derived, Threshold

MIN_GROWTH_BYTES = Threshold(
    8_000_000,
    "bytes",
    "that something grew by over the run: less is no leak",
    Chosen("the floor of the probe memory's own test: an allocator's arena may give and take as much"),
)
MIN_STEP_BYTES = Threshold(
    1024,
    "bytes",
    "a step, from which on a growing list is reported",
    Chosen("losses kept as numbers take less: 8 to 100 each"),
)
LONG_STEPS = Threshold(
    300,
    "steps",
    "for a growth that nothing explains to be more than a remark",
    Chosen("allocators settle within some hundred"),
)
LARGE_BYTES = Threshold(
    200_000_000, "bytes", "for a growth that nothing explains to be more than a remark", Chosen("25 times an arena's")
)
NEAR_RUNS = Threshold(
    10, "number", "times the steps of this run until the limit, for severity high", Chosen("a short trial")
)
FAR_RUNS = Threshold(
    1000, "number", "times the steps of this run until the limit, for severity low", Chosen("a hundred times NEAR_RUNS")
)
KEPT_SHARE = Threshold(
    0.1, "share", "of the limit that grew within this run, for severity high", Chosen("1 / NEAR_RUNS")
)
MIN_GRAPHS = Threshold(
    5,
    "count",
    "graphs that stay alive: fewer are a few shapes, or a model and its evaluation",
    Chosen("a function for training, one for testing, one for predicting, and a rest of a batch for two of them"),
)
MIN_RUN_SHARE = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the run at a line that adds operations to a session's graph",
    Derived("XProf's moderate share of one part of a step"),
)
SURE = Threshold(
    0.2,
    "share",
    "of the estimated growth, what its interval's lower end must reach where nothing explains it",
    Chosen("an interval that nearly holds 0 says that next to none is as likely"),
)
GRAPH_SAVED_MIN = Threshold(
    0.5,
    "share",
    "of the line's time, what goes at least when it makes no operation",
    Chosen("it also runs what it makes"),
)
MIN_SESSION_RUNS = Threshold(
    8,
    "count",
    "runs of a session at one place, before its graph is said to grow or not to",
    Chosen("counted at the first, second, fourth and eighth: two times between them, beside the first"),
)
MIN_ADDED = Threshold(
    0.5, "number", "operations that a graph has more for each run, for it to grow", Chosen("one at every second run")
)
FIRST_RUNS = Threshold(
    16,
    "count",
    "of the runs of a session at a place, one in so many is a first one",
    Chosen("so that it is no single one"),
)
NEAR = Threshold(0.9, "share", "of the limit at the peak", Cited("the PyTorch profiler's TensorBoard plugin: 90 %"))
GRAVE = Threshold(0.97, "share", "of the limit at the peak, for severity high", Chosen("a batch more may end the run"))
REMADE_MIN = Threshold(10, "count", "datasets of one line, for one that is made again and again", Chosen("no accident"))
