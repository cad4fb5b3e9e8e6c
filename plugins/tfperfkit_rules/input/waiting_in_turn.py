"""Python that prepares batches and mostly waits, for one element after the other (INP005).

A wait needs no CPU core and releases the interpreter's lock. So the calls can wait at the same time, and nothing has to
be written with TensorFlow operations.
"""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit_probes.input.model import KerasInput, Stage

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.pricing import Left
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.batch_lines import BatchLine, count_at_once
from tfperfkit_rules.measures.feed import Feed

CALLS_AT_ONCE = Threshold(
    16,
    "calls",
    "number of calls that the advice lets wait at the same time",
    Measured(
        "96 elements that wait 30 ms each took 3.2 s; 1.6 s with num_parallel_calls on the 2 threads that tf.data has "
        "on two cores, 0.24 to 0.34 s with 16 threads",
        TWO_BUSY_CORES,
        8,
    ),
)

#: Kinds of waiting for what other calls don't hold, and whether another process needs a CPU core meanwhile. A wait for
#: a lock, a queue or a thread of the script's may be for another call.
_SIDE_BY_SIDE = {"sleep": False, "network": False, "programs": True}
_MAPS = ("Map", "ParallelMap")
_SAFE = "must be safe to call from several threads at a time"


class InTurn(NamedTuple):
    """``words``: what the calls wait in. ``left``: of the step, if more of them wait at the same time than the
    ``at_once`` that do so already."""

    words: str
    left: Left
    advice: str
    detail: str
    at_once: float


def wait_in_turn(
    evidence: Evidence, item: Feed, stage: Stage, source: KerasInput | None, line: BatchLine
) -> InTurn | None:
    """Return None if the Python mostly computes or reads, or waits for threads of the script's."""
    kind = line.waits
    if kind is None or not line.samples or kind.word not in _SIDE_BY_SIDE:
        return None
    at_once = float((source.workers or 1) if source is not None and _is_py_dataset(source) else count_at_once(evidence))
    threads = max(item.cpus, 2)
    most = threads if _SIDE_BY_SIDE[kind.word] else max(CALLS_AT_ONCE.value, 2 * at_once)
    waited = item.section_ms * item.part(stage) * line.waited
    best, worst = (item.section_ms - waited * max(1 - at_once / calls, 0.0) for calls in (most, threads))
    return InTurn(
        words=kind.words,
        left=item.rerun(max(item.other_ms, best), item.other_ms + worst),
        advice=_advise(stage, source, round(most)),
        detail="A wait needs no CPU core and releases the interpreter lock: many calls together wait as long as one.",
        at_once=at_once,
    )


def _is_py_dataset(source: KerasInput) -> bool:
    return source.kind == "PyDataset"


def _advise(stage: Stage, source: KerasInput | None, calls: int) -> str:
    name = stage.mapped.function if stage.mapped is not None else "the function"
    if source is not None and _is_py_dataset(source):
        owner = source.cls or "the class"
        return (
            f"Let several threads wait at the same time: super().__init__(workers={calls}) in {owner}.__init__. "
            f"{owner}.__getitem__ {_SAFE}."
        )
    if stage.kind not in _MAPS:
        return (
            f"Let {name} fetch several elements at the same time: concurrent.futures.ThreadPoolExecutor({calls})"
            ".map(fetch, keys) keeps their order. Or: make a tf.data.Dataset of the keys, and fetch in a map with "
            f"num_parallel_calls={calls} and tf.numpy_function."
        )
    return (
        f"Let several calls wait at the same time: .map({name}, num_parallel_calls={calls}), and give tf.data as many "
        f"threads: options = tf.data.Options(); options.threading.private_threadpool_size = {calls}; "
        f"dataset = dataset.with_options(options). Without the options it has one thread for each CPU core. What "
        f"{name} calls {_SAFE}."
    )
