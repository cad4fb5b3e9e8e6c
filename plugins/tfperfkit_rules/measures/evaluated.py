"""The pipeline that Keras' ``evaluate`` and ``predict`` wait for, in work that trains nothing.

Their batches are taken inside of a compiled function, where Python sees no fetch: a trace tells the wait, else the
times that TensorFlow keeps of the pipeline's stages.
"""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit_probes.input.model import Pipeline

from tfperfkit.clock import MS_PER_S
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.trace_window import waited_share

WAYS = ("evaluate", "predict")


class Inside(NamedTuple):
    """The input of an iteration of the work, or of all of it: ms of waiting, batches.

    ``traced``: a trace saw it.
    """

    ms: float = 0.0
    batches: float = 0.0
    traced: bool = False


def lines(evidence: Evidence) -> set[tuple[str, int]]:
    """The user's lines below which the work's time in these calls was sampled."""
    return {
        (frame.file, frame.line)
        for stack in evidence.samples.stacks
        if stack.context == "evaluate"
        for frame in stack.frames
    }


def evaluated_wait(evidence: Evidence, pipeline: Pipeline) -> Inside:
    """How long these calls wait for the pipeline; nothing where it is not theirs, or Keras' own, made of arrays."""
    work, inside = evidence.work, evidence.part("evaluate")
    if work is None or pipeline.way not in WAYS or not inside or not _made_by_the_person(pipeline):
        return Inside()
    each = (evidence.step_ms or 0.0) / (MS_PER_S * work.seconds) if work.seconds else 0.0
    batches = (pipeline.outputs_each or 0.0) * pipeline.iterators * each
    traced = waited_share(evidence)
    if traced is not None:
        return Inside(inside * traced, batches, traced=True)
    return Inside(min((pipeline.bound_ms_per_output or 0.0) * batches, inside), batches)


def _made_by_the_person(pipeline: Pipeline) -> bool:
    return any(stage.is_python or (stage.by == "user" and not stage.added) for stage in pipeline.stages)
