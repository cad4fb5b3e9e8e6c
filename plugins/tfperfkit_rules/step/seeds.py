"""STP012: TensorFlow's seed is set at each step, which throws away the kernels of all operations."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.gain import MEDIUM, severity, speedups
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import headroom, shared
from tfperfkit_rules.calibration import step as calibrated
from tfperfkit_rules.measures.growth import growth
from tfperfkit_rules.measures.line_hits import conditional, hits_per_step
from tfperfkit_rules.measures.room import priced
from tfperfkit_rules.measures.source_text import loops
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import span

#: All of them clear the kernels in ``tensorflow/python/eager/context.py``: ``_set_global_seed``.
_SEEDS = (
    "tensorflow.random.set_seed",
    "tensorflow.set_random_seed",
    "tensorflow.random.set_random_seed",
    "keras.utils.set_random_seed",
)


def seeded_each_step(evidence: Evidence) -> Iterable[Finding]:
    """A compiled step whose loop sets the seed: what lies between its operations is the making of their kernels."""
    lines, found = _in_the_loop(evidence), growth(evidence)
    if not lines or found is None:
        return
    made = max(0.0, found.gaps_ms - headroom.CALL_START_MS.value)
    upper = max(made, found.graph_ms - found.grows[0] - found.update_ms) + evidence.part("dispatch", "eager_ops")
    share = min(made / found.step_ms, shared.MAX_STEP_SHARE.value)
    if share < MEDIUM:
        return
    bounds = speedups(
        share * (1 - calibrated.KERNELS_LEFT.value), min(upper / found.step_ms, shared.MAX_STEP_SHARE.value)
    )
    calls = [span(evidence, site.file, site.line) for site in reached(evidence, "call")[:1]]
    yield priced(
        Finding(
            code="STP012",
            family="step",
            title=f"The seed is set at each step, so all kernels are made anew: {100 * share:.0f} % of a step",
            severity=severity(1 - 1 / bounds[0]),
            share_of_step=share,
            predicted_speedup=None,
            where=tuple(dict.fromkeys((*(span(evidence, row.file, row.line) for row in lines), *calls))),
            evidence=(
                Measurement("step", found.step_ms, "ms", "baseline"),
                Measurement("between the operations", found.gaps_ms, "ms", "breakdown"),
                Measurement("updating weights", found.update_ms, "ms", "breakdown"),
                Measurement("steps", float(evidence.steps.count), "count", "run"),
            ),
            advice=(
                "Set it once, before the loop. Where each step needs random numbers of its own that can be repeated: "
                "tf.random.stateless_normal(shape, seed=[run, step]), or a tf.random.Generator that is made once."
            ),
            detail=(
                "Setting the seed clears TensorFlow's cache of kernels: the next call instantiates the compiled "
                "function, and every kernel in it, again."
            ),
            absorbs=("CMP006", "BAT001", "BAT002", "STP009", "STP002"),
            absorbs_here=("LIN001", "STP001"),
            parts=("graph", "dispatch", "eager_ops"),
        ),
        bounds,
    )


def _in_the_loop(evidence: Evidence) -> list[SourceSpan]:
    """The lines that set the seed in the loop that the steps were counted by, and in no loop within."""
    counted = evidence.steps.loop
    if counted is None or evidence.work is not None:
        return []
    return [
        row
        for row in evidence.calls(*_SEEDS)
        if row.file == counted.file
        and [loop.line for loop in loops(evidence, row.file, row.line)][-1:] == [counted.line]
        and _at_each_step(evidence, row)
    ]


def _at_each_step(evidence: Evidence, row: SourceSpan) -> bool:
    """As it was counted; where it was not, by the source."""
    hits = hits_per_step(evidence, row.file, row.line)
    return hits >= calibrated.SEEDED_OFTEN.value if hits is not None else not conditional(evidence, row.file, row.line)
