"""MEM005: a known memory leak of the installed TensorFlow version that the script triggers.

Each entry of the table has a public source, and was seen to happen. The condition is what ran: Python functions of
datasets that one line creates again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit_probes.input.model import InputData, Pipeline, Stage
from tfperfkit_probes.memory.model import MemoryData

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.rule import Evidence

TITLES = {"MEM005": "TensorFlow never frees Python functions of rebuilt datasets"}

REMADE_MIN = Threshold(
    10,
    "count",
    "minimum number of datasets of one line that is executed again and again",
    Chosen("as many are not made by accident"),
)

_Version = tuple[int, int]


class Leak(NamedTuple):
    """``first``, ``last``: versions of TensorFlow in which it was seen, both included."""

    first: str
    last: str
    keeps: str
    advice: str
    sources: tuple[str, ...]


#: Each Python function that tf.data calls is appended to a list of the outermost graph, which is never freed.
GENERATORS = Leak(
    first="2.10",
    last="2.21",
    keeps="Python functions of rebuilt datasets",
    advice=(
        "Create the dataset once, before the loop, and iterate over it again. Pass what changes by "
        "from_generator(..., args=...). Or: through an object that the function reads."
    ),
    sources=("github.com/tensorflow/tensorflow/issues/57690", "github.com/tensorflow/tensorflow/pull/123530"),
)


def known_leaks(evidence: Evidence) -> Iterator[Finding]:
    """Report more than a note only if memory was seen to grow."""
    unit = evidence.unit
    data, memory = evidence.offer(InputData), evidence.offer(MemoryData)
    version = _version(evidence.run.versions.get("tensorflow", ""))
    if (
        evidence.work is not None
        or data is None
        or not _version(GENERATORS.first) <= version <= _version(GENERATORS.last)
    ):
        return
    found = [
        (item, stage)
        for item in data.pipelines
        if not item.in_graph and item.datasets_made >= REMADE_MIN.value
        for stage in item.stages
        if stage.is_python
    ]
    if not found:
        return
    pipeline, stage = max(found, key=lambda row: row[0].datasets_made)
    grows = memory is not None and memory.growth_is_significant and (memory.growth_bytes_per_step or 0) > 0
    yield Finding(
        code="MEM005",
        severity="low" if grows else "info",
        basis="risk",
        title=f"TensorFlow {evidence.run.versions['tensorflow']} never frees {GENERATORS.keeps}",
        share_of_step=0.0,
        where=_places(pipeline, stage),
        evidence=(
            Measurement("datasets created at this line", float(pipeline.datasets_made), "count", "run"),
            *(
                [Measurement(f"memory growth {unit.per}", memory.growth_bytes_per_step or 0.0, "bytes", "run")]
                if memory is not None and grows
                else []
            ),
        ),
        advice=GENERATORS.advice,
        detail=f"This is a TensorFlow bug: {' and '.join(GENERATORS.sources)}.",
        absorbs=("MEM001",) if grows else (),
    )


def _places(pipeline: Pipeline, stage: Stage) -> tuple[SourceSpan, ...]:
    made = SourceSpan(stage.file, stage.line, stage.function) if stage.file and stage.by == "user" else None
    call = SourceSpan(pipeline.file, pipeline.line, pipeline.function)
    return tuple(dict.fromkeys(span for span in (made, call) if span is not None))


def _version(text: str) -> _Version:
    parts = text.split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) > 1 and all(part.isdigit() for part in parts[:2]) else (0, 0)
