"""STP012: TensorFlow's seed is set in each step, which discards the kernels of all operations.

The source shows that the line runs in every step. The time is that between the operations of the compiled function in
the trace, without the call itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.gain import MEDIUM, severity
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import LineCounts
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Remove
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.batch_callbacks import AROUND_BATCHES
from tfperfkit_rules.measures.growth import growth
from tfperfkit_rules.measures.room import CALL_START_MS
from tfperfkit_rules.measures.source_text import find_function, find_loops
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import span

SEEDED_OFTEN = Threshold(
    0.5,
    "number",
    "minimum number of times per step that the seed is set, for the steps as a whole to pay for it",
    Chosen("below it most steps keep their kernels"),
)
KERNELS_LEFT = Threshold(
    0.02,
    "share",
    "maximum share that remains of the time between operations, if kernels are kept instead of made again",
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
    """Return a compiled step whose loop sets the seed: what lies between its operations is the making of their
    kernels."""
    unit = evidence.unit
    lines, found = _find_lines_in_loop(evidence), growth(evidence)
    if not lines or found is None:
        return
    made = max(0.0, found.gaps_ms - CALL_START_MS.value)
    upper = max(made, found.graph_ms - found.grows[0] - found.update_ms) + evidence.part("dispatch", "eager_ops")
    share = min(made / found.step_ms, shared.MAX_STEP_SHARE.value)
    if share < MEDIUM:
        return
    gained = price(Remove(), Part(share * (1 - KERNELS_LEFT.value), upper / found.step_ms))
    calls = [span(evidence, site.file, site.line) for site in reached(evidence, "call")[:1]]
    yield Finding(
        code="STP012",
        remedy=Remove(),
        title=f"tf.random.set_seed in {unit.every} rebuilds all kernels: {100 * share:.0f} % of {unit.a}",
        severity=severity(gained.surely),
        share_of_step=share,
        gain=gained,
        where=tuple(dict.fromkeys((*(span(evidence, row.file, row.line) for row in lines), *calls))),
        evidence=(
            Measurement(f"time of {unit.a}", found.step_ms, "ms", "baseline"),
            Measurement("time between operations", found.gaps_ms, "ms", "breakdown"),
            Measurement("time updating weights", found.update_ms, "ms", "breakdown"),
            Measurement("steps", float(evidence.steps.count), "count", "run"),
        ),
        advice=(
            "Set the seed once, before the loop. Or: use tf.random.stateless_normal(shape, seed=[run, step]) if "
            f"{unit.each} needs repeatable random numbers of its own."
        ),
        detail=(
            "Setting the seed clears TensorFlow's kernel cache, so the next call instantiates the compiled function "
            "and every kernel in it again."
        ),
        absorbs=("CMP006", "BAT001", "BAT002", "STP009", "STP002"),
        absorbs_here=("LIN001", "STP001"),
        parts=("graph", "dispatch", "eager_ops"),
    )


def _find_lines_in_loop(evidence: Evidence) -> list[SourceSpan]:
    """Find the lines that set the seed at each step: as they were counted; where they were not, those in the loop that
    the steps were counted by and in no loop within, or in a function that is called there."""
    if evidence.work is not None:
        return []
    return [row for row in evidence.calls(*_SEEDS) if _runs_each_step(evidence, row)]


def _runs_each_step(evidence: Evidence, row: SourceSpan) -> bool:
    hits = hits_per_step(evidence, row.file, row.line)
    if hits is not None:
        return hits >= SEEDED_OFTEN.value
    return _is_in_loop(evidence, row) or _is_called_in_loop(evidence, row, 0)


def _is_in_loop(evidence: Evidence, row: SourceSpan) -> bool:
    """Whether a line is in the loop of the steps, and no iteration may leave it out."""
    counted = evidence.steps.loop
    around = find_loops(evidence, row.file, row.line)
    here = counted is not None and row.file == counted.file and [loop.line for loop in around][-1:] == [counted.line]
    return here and not conditional(evidence, row.file, row.line)


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


def hits_per_step(evidence: Evidence, file: str, line: int) -> float | None:
    """Return how often the line runs in a step, by the window that counts lines; None if it did not count this line."""
    counts = evidence.offer(LineCounts)
    steps = sum(step.count for step in evidence.steps.in_window(evidence.offered_by(LineCounts)))
    hits = [row.hits for row in counts.rows if (row.file, row.line) == (file, line)] if counts is not None else []
    return sum(hits) / steps if hits and steps else None


def conditional(evidence: Evidence, file: str, line: int) -> bool:
    """Whether an iteration of the innermost loop around a line may skip the line; True if that is unknown."""
    syntax = evidence.syntax(file)
    around = [loop.line for loop in find_loops(evidence, file, line) if loop.is_statement]
    return syntax is None or not around or max(syntax.find_branches(line), default=0) > around[-1]
