"""The cost of a ``skip`` after a costly map: each pass makes the elements first, then discards them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit_probes.input.model import InputData, Pipeline, Stage

from tfperfkit.calibration import Cited, Threshold
from tfperfkit.clock import MS_PER_S
from tfperfkit.rule import Evidence

TWO_AN_EPOCH = Threshold(
    2.0, "count", "maximum number of iterators that Keras makes for an epoch", Cited("Keras 3, epoch_iterator.py")
)

#: Stages allowed between the map and the ``skip``: none that changes elements, or keeps them.
_BETWEEN = ("Prefetch", "Shuffle", "Take")
_MAPS = ("Map", "ParallelMap")


class LateSkip(NamedTuple):
    """``stage``: the map that makes the skipped elements; ``skipped`` elements, each ``each_ms`` of wall-clock time;
    ``seconds``: in all recorded passes.
    """

    pipeline: Pipeline
    skip: Stage
    stage: Stage
    skipped: int
    each_ms: float
    seconds: float


def late_skips(evidence: Evidence) -> Iterator[LateSkip]:
    """Those whose map was timed, in any pipeline that has the same one: TensorFlow forgets the times of a pipeline that
    is gone through and freed."""
    data = evidence.offer(InputData)
    for pipeline in data.pipelines if data is not None else ():
        for skip, stage in _skips(pipeline):
            each = _each_ms(data, stage) if data is not None else None
            count = skip.parameters.get("count")
            if each is not None and isinstance(count, int) and count > 0:
                passes = pipeline.iterators / (TWO_AN_EPOCH.value if pipeline.way else 1.0)
                yield LateSkip(pipeline, skip, stage, count, each, count * each * max(passes, 1.0) / MS_PER_S)


def _skips(pipeline: Pipeline) -> Iterator[tuple[Stage, Stage]]:
    """Each ``skip`` of the user's with the map that makes what it skips."""
    own = [stage for stage in pipeline.stages if stage.nested is None]
    for index, stage in enumerate(own):
        if stage.kind != "Skip" or stage.added:
            continue
        for below in own[index + 1 :]:
            if below.kind in _MAPS and below.by == "user":
                yield stage, below
                break
            if below.kind not in _BETWEEN:
                break


def _each_ms(data: InputData, stage: Stage) -> float | None:
    """Return the map's wall-clock ms for an element, from any pipeline with the same map: TensorFlow forgets the times
    of a pipeline that is exhausted and destroyed.
    """
    times = [
        other.self_ms_per_output / other.elements / max(other.parallelism or 1.0, 1.0)
        for pipeline in data.pipelines
        for other in pipeline.stages
        if (other.kind, other.file, other.line, other.mapped) == (stage.kind, stage.file, stage.line, stage.mapped)
        and other.self_ms_per_output is not None
        and other.elements
    ]
    return min(times, default=None)
