"""What the probe ``input`` tells other readers of a run."""

from __future__ import annotations

import re

from tfperfkit.offers import InputBatch, InputPace, Pipelines
from tfperfkit_probes.input.model import InputData

#: ``float32[64,128], int32[64]``: of each part of an element its shape.
_SHAPE = re.compile(r"\w+\[([^\]]*)\]")
#: Batches that a step takes, as they are counted, may differ from one by a batch that was made ahead.
_ONE = 0.1


def offers(data: InputData) -> tuple[InputPace | InputBatch | Pipelines, ...]:
    """The pace of the pipelines that feed the steps, of several the slowest one's, none where it was not measured; how
    many examples a batch holds; and what pipelines there are, if any."""
    paces = [
        each.bound_ms_per_output * each.outputs_per_step
        for each in data.pipelines
        if each.in_training and each.bound_ms_per_output and each.outputs_per_step
    ]
    found: list[InputPace | InputBatch | Pipelines] = [InputPace(ms_per_step=max(paces))] if paces else []
    examples = _examples(data)
    there = Pipelines(
        iterated=any(not each.in_graph for each in data.pipelines),
        feeds_steps=any(each.in_training for each in data.pipelines),
    )
    return (*found, *([InputBatch(examples=examples)] if examples else []), *([there] if data.pipelines else []))


def _examples(data: InputData) -> int:
    """Of one pipeline before one device: what a strategy hands on are batches. 0 where that is not so plain."""
    feeding = [each for each in data.pipelines if each.in_training]
    if len(feeding) != 1 or feeding[0].iterators != 1 or not feeding[0].stages:
        return 0
    (only,) = feeding
    taken = any(stage.kind == "Generator" and stage.added for stage in only.stages)
    if not taken or only.outputs_per_step is None or abs(only.outputs_per_step - 1) > _ONE:
        return 0
    first = {shape.partition(",")[0].strip() for shape in _SHAPE.findall(only.stages[0].element)}
    size = next(iter(first), "")
    return int(size) if len(first) == 1 and size.isdecimal() and len(size) < 10 else 0
