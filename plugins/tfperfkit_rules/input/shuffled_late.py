"""INP008: the step waits at the start of each epoch until a shuffle buffer is full of mapped elements.

The gain: the wait at the start of epochs goes, and only the elements that an epoch uses are mapped, next to the steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfperfkit_probes.input.model import Stage

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import ChangeStage
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.stage_order import count_elements, count_held, name_wrong_order
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.epochs import epochs
from tfperfkit_rules.measures.feed import Feed, feed, name_at, name_stage, place, places, waiting

FASTER = Threshold(
    0.6,
    "number",
    "minimum time for an element after the shuffle, as a multiple of its time while the buffer fills",
    Measured("0.63 to 1.1: 69 and 33 ms a batch became 43 and 37", TWO_BUSY_CORES, 2),
)
SLOWER = Threshold(
    1.2,
    "number",
    "maximum time for an element after the shuffle, as a multiple of its time while the buffer fills",
    Measured("0.63 to 1.1: 69 and 33 ms a batch became 43 and 37", TWO_BUSY_CORES, 2),
)
#: Stages that make elements from elements. A shuffle may stand before them.
_MAPS = ("Map", "ParallelMap", "MapAndBatch")
_BATCHES = ("Batch", "PaddedBatch", "ParallelBatch")
#: Sources that only give elements from memory.
_IN_MEMORY = ("TensorSlice", "Tensor", "Range")


def shuffled_late(evidence: Evidence) -> Iterator[Finding]:
    """INP008: shuffle() stands after the work, which is done for the whole buffer before the first step of an epoch."""
    unit, item, found = evidence.unit, feed(evidence), epochs(evidence)
    if item is None or found is None or not item.filling:
        return
    own = [stage for stage in item.pipeline.stages if not stage.added and stage.nested is None]
    shuffles = [stage for stage in own if stage.kind == "Shuffle"]
    if len(shuffles) != 1:
        return
    late = shuffles[0]
    moved = _find_moved(own, late)
    held = count_held(evidence, item.pipeline, late)
    if not moved or not held or not _fills(item, late, moved):
        return
    used = count_elements(evidence, item.pipeline, late)
    low, high = (item.epoch_ms * used / held * times for times in (FASTER.value, SLOWER.value))
    first, last = moved[-1], moved[0]
    names = " and ".join(name_stage(stage) for stage in reversed(moved))
    waste = f" An epoch uses {used:,.0f} of the {held:,.0f} elements in the buffer."
    yield Finding(
        code="INP008",
        remedy=ChangeStage("order"),
        title=name_wrong_order(f"shuffle() after {names} fills its buffer before each epoch"),
        share_of_step=item.share,
        gain=price(ChangeStage("order"), left=item.move_ahead(low, high, min(used / held, 1.0) * item.epoch_ms)),
        where=places(evidence, place(late, item.pipeline), place(last, item.pipeline), place(first, item.pipeline)),
        evidence=(
            *waiting(item, unit),
            Measurement("elements in the shuffle buffer", held, "count", "run"),
            Measurement("elements that an epoch uses", used, "count", "run"),
        ),
        advice=(
            f"Shuffle before {names} ({name_at(evidence, place(first, item.pipeline))}): .shuffle(n){_chain(moved)}. "
            "Let n be the number of examples, which are small there, if they fit into memory."
        ),
        detail=(
            f"Before the first {unit.the.removeprefix('the ')} of an epoch the whole buffer goes through {names}."
            + (waste if used < shared.MOSTLY.value * held else "")
        ),
        absorbs=("INP001", "INP003", "INP004", "INP007"),
        absorbs_here=("INP009",),
    )


def _find_moved(own: Sequence[Stage], late: Stage) -> list[Stage]:
    """Return the stages directly before a shuffle that may follow it, the last one first. Empty if none of them is a
    map: batches alone are made quickly."""
    moved: list[Stage] = []
    for stage in own[own.index(late) + 1 :]:
        if stage.kind not in (*_MAPS, *_BATCHES):
            break
        moved.append(stage)
    return moved if any(stage.kind in _MAPS for stage in moved) else []


def _fills(item: Feed, late: Stage, moved: Sequence[Stage]) -> bool:
    """Whether the stages that would move take most of the pipeline's work. TensorFlow adds their time to the shuffle
    if they are exhausted: then what stands before them must be in memory."""
    stages = item.pipeline.stages
    worked = sum(stage.self_ms_per_output or 0.0 for stage in stages)
    mapping = sum(stage.self_ms_per_output or 0.0 for stage in moved)
    if mapping >= shared.MOSTLY.value * worked > 0:
        return True
    before = [stage for stage in stages[stages.index(moved[-1]) + 1 :] if not stage.added]
    filling = mapping + (late.self_ms_per_output or 0.0)
    return filling >= shared.MOSTLY.value * worked > 0 and all(stage.kind in _IN_MEMORY for stage in before)


def _chain(moved: Sequence[Stage]) -> str:
    """Write the stages as calls: ``.map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(16)``."""
    calls = []
    for stage in reversed(moved):
        if stage.kind in _MAPS:
            name = stage.mapped.function if stage.mapped is not None else "..."
            parallel = ", num_parallel_calls=tf.data.AUTOTUNE" if stage.kind == "ParallelMap" else ""
            calls.append(f".map({name}{parallel})")
        else:
            method = "padded_batch" if stage.kind == "PaddedBatch" else "batch"
            calls.append(f".{method}({stage.parameters.get('batch_size') or '...'})")
    return "".join(calls)
