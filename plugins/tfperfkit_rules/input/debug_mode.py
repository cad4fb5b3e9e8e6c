"""INP016: tf.data runs in debug mode.

The switch is read from TensorFlow. Reported if the step waits for a stage that runs Python; the gain is that of less
Python in the pipeline.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.pricing import Left, price
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.also_validated import also_validated
from tfperfkit_rules.input.interpreter_lock import Lock, lock
from tfperfkit_rules.input.python_batches import PYTHON_LEFT, python_stage
from tfperfkit_rules.measures.feed import feed, overlaps, own_time, place, places, waiting
from tfperfkit_rules.measures.input_bounds import MIN_PART

TITLES = {"INP016": "tf.data debug mode runs map functions eagerly"}
_SWITCH = "tensorflow.data.experimental.enable_debug_mode"


@also_validated
def debug_mode(evidence: Evidence) -> Iterator[Finding]:
    """Report debug mode if the step waits for a stage that runs Python. Priced as other Python there."""
    item = feed(evidence) if evidence.settings.get("data_debug_mode") is True else None
    stage = python_stage(item.pipeline, item.bound) if item is not None and item.bound is not None else None
    if item is None or stage is None or item.part(stage) < MIN_PART.value:
        return
    worked = item.section_ms * item.part(stage)
    rest = item.section_ms - worked
    worst = item.after(rest, rest + PYTHON_LEFT.value * worked).high
    held = lock(evidence, item.pipeline, stage) if overlaps(item.pipeline) else Lock()
    best = item.rerun(max(held.left(item.min_other_ms), rest), item.step_ms).low
    switch = evidence.calls(_SWITCH)
    yield Finding(
        code="INP016",
        remedy=Setting("debug_mode", "off"),
        title=TITLES["INP016"],
        share_of_step=item.share,
        gain=price(Setting("debug_mode"), left=Left(best, worst)),
        where=places(evidence, *switch[:1], stage.mapped, place(stage, item.pipeline)),
        evidence=(*waiting(item, evidence.unit), *held.measured, *own_time(stage)),
        advice="Delete tf.data.experimental.enable_debug_mode(). TensorFlow then compiles the functions of map and "
        "filter again, and num_parallel_calls and prefetch take effect.",
        detail="In debug mode Python calls each operation of these functions, one element at a time, on one thread.",
        absorbs=("INP001", "INP003", "INP004", "INP005", "INP006", "INP007", "OPS004"),
    )
