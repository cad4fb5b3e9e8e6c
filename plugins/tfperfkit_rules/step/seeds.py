"""STP012: TensorFlow's seed is set in each step, or iteration, which discards the kernels of all operations.

The trace times how long calls instantiate compiled functions that they have called before. The line counts, or the
source, show that the seed is set each time.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import Instantiations, LineCounts
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Remove
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time, shared, trace_window
from tfperfkit_rules.measures.batch_callbacks import AROUND_BATCHES
from tfperfkit_rules.measures.instantiating import instantiated_again
from tfperfkit_rules.measures.source_text import find_function, find_loops
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import span

SEEDED_OFTEN = Threshold(
    0.5,
    "number",
    "minimum number of times per step, or iteration, that the seed is set, for all of them to pay for it",
    Chosen("below it most of them keep their kernels"),
)
KERNELS_LEFT = Threshold(
    0.02,
    "share",
    "maximum share that remains of the time in which functions are instantiated, if kernels are kept",
    Measured(
        "a step of 661 operations: 0.8 ms, and 220 to 590 ms with tf.random.set_seed before it", TWO_BUSY_CORES, 1
    ),
)

TITLES = {"STP012": "tf.random.set_seed in every step rebuilds all kernels"}
#: All of them clear the kernels in ``tensorflow/python/eager/context.py``: ``_set_global_seed``.
_SEEDS = (
    "tensorflow.random.set_seed",
    "tensorflow.set_random_seed",
    "tensorflow.random.set_random_seed",
    "keras.utils.set_random_seed",
)


def seeded_each_step(evidence: Evidence) -> Iterable[Finding]:
    """Return a loop that sets the seed in each iteration, whose compiled functions are instantiated in each."""
    unit, share = evidence.unit, instantiated_again(evidence)
    if share < MEDIUM:
        return
    lines = _find_lines_in_loop(evidence)
    if not lines:
        return
    # The first run after an instantiation is slower, and operations outside of functions lose their kernels too.
    upper = evidence.share("graph", "dispatch", "eager_ops") - graph_time.least_share(evidence)
    certain = share * (1 - KERNELS_LEFT.value)
    data, window = evidence.offer(Instantiations), evidence.offered_by(Instantiations)
    calls = [span(evidence, site.file, site.line) for site in reached(evidence, "call")[:1]]
    yield Finding(
        code="STP012",
        remedy=Remove(),
        title=f"tf.random.set_seed in {unit.every} rebuilds all kernels: {100 * share:.0f} % of {unit.a}",
        share_of_step=share,
        gain=price(Remove(), Part(certain, min(max(certain, upper), shared.MAX_STEP_SHARE.value))),
        where=tuple(dict.fromkeys((*(span(evidence, row.file, row.line) for row in lines), *calls))),
        evidence=(
            Measurement(f"share of {unit.the} in instantiating functions again", share, "share", window),
            Measurement("functions instantiated again", float(data.count if data is not None else 0), "count", window),
            Measurement(f"time of {unit.a}", evidence.step_ms or 0.0, "ms", "baseline"),
        ),
        advice=(
            "Set the seed once, before the loop. Or: use tf.random.stateless_normal(shape, seed=[run, step]) if "
            f"{unit.each} needs repeatable random numbers of its own."
        ),
        detail=(
            "Setting the seed clears TensorFlow's kernel cache, so the next call instantiates the compiled function, "
            "with Grappler's optimisation, and every kernel in it again. NumPy's and Python's seeds clear nothing."
        ),
        absorbs=("CMP006", "BAT001", "BAT002", "STP009", "STP002"),
        absorbs_here=("LIN001", "STP001"),
        parts=("graph", "dispatch", "eager_ops"),
    )


def _find_lines_in_loop(evidence: Evidence) -> list[SourceSpan]:
    """Find the lines that set the seed at each step: as they were counted; where they were not, those in the loop that
    the steps were counted by and in no loop within, or in a function that is called there."""
    return [row for row in evidence.calls(*_SEEDS) if _runs_each_step(evidence, row)]


def _runs_each_step(evidence: Evidence, row: SourceSpan) -> bool:
    hits = _count_hits(evidence, row.file, row.line)
    if hits is not None:
        return hits >= SEEDED_OFTEN.value
    return _is_in_loop(evidence, row) or _is_called_in_loop(evidence, row, 0)


def _is_in_loop(evidence: Evidence, row: SourceSpan) -> bool:
    """Whether a line is in the loop of the steps, and no iteration may leave it out."""
    counted = evidence.steps.loop if evidence.work is None else evidence.work.where
    around = find_loops(evidence, row.file, row.line)
    here = counted is not None and row.file == counted.file and [loop.line for loop in around][-1:] == [counted.line]
    return here and not _is_conditional(evidence, row.file, row.line)


def _is_called_in_loop(evidence: Evidence, row: SourceSpan, depth: int) -> bool:
    """Tell whether a line is in a function, outside of any ``if`` or loop, that the loop of the steps calls by its
    name, or that Keras calls at each batch.
    """
    function, syntax = find_function(evidence, row.file, row.line), evidence.syntax(row.file)
    if function is None or syntax is None or depth >= shared.FUNCTIONS_DEEP.value:
        return False
    if any(function.line <= line for line in syntax.find_branches(row.line)) or find_loops(
        evidence, row.file, row.line
    ):
        return False
    if function.name in AROUND_BATCHES:
        return True
    called = [SourceSpan(row.file, call.line) for call in syntax.find_calls(function.name)]
    return any(_is_in_loop(evidence, call) or _is_called_in_loop(evidence, call, depth + 1) for call in called)


def _count_hits(evidence: Evidence, file: str, line: int) -> float | None:
    """Return how often the line runs in a step, or an iteration of the work, by the window that counts lines; None if
    it did not count this line."""
    if evidence.work is not None:
        return trace_window.reached(evidence, file, line, line)
    counts = evidence.offer(LineCounts)
    steps = sum(step.count for step in evidence.steps.in_window(evidence.offered_by(LineCounts)))
    hits = [row.hits for row in counts.rows if (row.file, row.line) == (file, line)] if counts is not None else []
    return sum(hits) / steps if hits and steps else None


def _is_conditional(evidence: Evidence, file: str, line: int) -> bool:
    """Whether an iteration of the innermost loop around a line may skip the line; True if that is unknown."""
    syntax = evidence.syntax(file)
    around = [loop.line for loop in find_loops(evidence, file, line)]
    return syntax is None or not around or max(syntax.find_branches(line), default=0) > around[-1]
