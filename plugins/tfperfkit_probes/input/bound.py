"""Which stage bounds a pipeline.

A pipeline runs in sections, each on threads of its own, that hand elements over through buffers: a stage with
parallel calls is a section by itself; ``prefetch`` and all below it down to the next parallel stage is one thread's
work, and so are the stages between the step and the first parallel stage. Sections run at the same time, the stages of
one section after each other. So the slowest section sets the pace: the one with the most own time for an element at the
pipeline's end, each stage's time divided by its parallelism. The stage with the largest part of it bounds the pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit_probes.input.model import Stage

#: Stages that run on their own threads.
PARALLEL = ("ParallelMap", "MapAndBatch", "ParallelInterleave", "ParallelBatch", "ParallelFilter")


def bound(stages: Sequence[Stage], names: Sequence[str]) -> tuple[int | None, float | None]:
    """(index of the bounding stage, ms that its section takes for one element at the end); None where unmeasured.

    ``names`` are those of TensorFlow's own model, or the kinds where it has none.
    """
    if any(
        stage.self_ms_per_output is None and name.startswith(PARALLEL) and not stage.fused
        for stage, name in zip(stages, names, strict=True)
    ):
        return None, None  # a trace without a model: the time of what runs in parallel is not known
    sections: list[list[int]] = [[]]
    for index, (stage, name) in enumerate(zip(stages, names, strict=True)):
        if stage.nested is not None:
            # The stages inside a parallel interleave belong to it; those inside a sequential flat_map belong to its
            # section.
            owner = next((section for section in sections if stage.nested in section), sections[-1])
            owner.append(index)
        elif name.startswith(PARALLEL):
            sections += [[index], []]
        elif name.startswith("Prefetch"):
            sections.append([index])
        else:
            sections[-1].append(index)
    best: tuple[float, int] | None = None
    for section in sections:
        times = {index: _time(stages, index) for index in section}
        total = sum(times.values())
        if total > 0 and (best is None or total > best[0]):
            best = total, max(times, key=lambda index: times[index])
    return (best[1], best[0]) if best is not None else (None, None)


def _time(stages: Sequence[Stage], index: int) -> float:
    stage = stages[index]
    parallel = stage.parallelism or 1.0
    if stage.nested is not None:
        parallel *= stages[stage.nested].parallelism or 1.0
    return (stage.self_ms_per_output or 0.0) / max(parallel, 1.0)
