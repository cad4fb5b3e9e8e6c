"""LIN001 of lines whose C code keeps the interpreter's lock: line_profiler's times, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, one
from tfperfkit_probes.lines.model import Function, Line, LinesData
from tfperfkit_rules.step.python_time import hot_python
from work_builder import frame, sampled, work_evidence

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

SOURCE = """\
import tensorflow as tf
def to_record(values):
    numbers = tf.train.FloatList(value=values)
    return tf.train.Features(feature={"x": numbers})
for values in rows:
    writer.write(to_record(values))
"""
WRITE = "tensorflow.python.lib.io.tf_record:write"


def written(
    *, ms: float = 1500.0, hits: int = 100, method: str = "exact", at: Frame | None = None, call: bool = False
) -> Evidence:
    """Samples fall on the line that writes, and the two of the function; the window of two seconds has its times."""
    lines = (Line(3, hits, ms, ms / 2000), Line(4, hits, 80.0, 0.04))
    data = LinesData((Function("to_record", FILE, 2, ms + 80, lines),), (), 2000.0, method)
    inside = at or frame(3, name="to_record", span=(14, 46))
    return work_evidence(
        SOURCE,
        [
            sampled(60, "python", frame(6), inside),
            sampled(60, "python", frame(6), frame(4, name="to_record", span=(11, 52))),
            sampled(80, "dispatch", frame(6, WRITE)),
        ],
        **{"call" if call else "loop": 5},
        iterations=100,
        hits={3: hits, 4: hits},
        data={"lines": data},
    )


def test_the_line_that_keeps_the_lock_has_the_time_that_it_took() -> None:
    found = one(hot_python(written()))
    assert found.where[0].line == 3 and "(tensorflow.train.FloatList) on one line" in found.title
    assert found.share_of_step == pytest.approx(0.79) and "array.tobytes()" in found.advice
    assert "Timed by line_profiler" in found.detail and "dispatch" in found.parts
    assert found.evidence[0].window == "lines"


@pytest.mark.parametrize(
    "fields",
    [
        {"hits": 100_000},
        {"method": "sampled"},
        {"at": frame(3, "google.protobuf.message:extend", name="to_record", span=(14, 46))},
        {"call": True},
    ],
    ids=["short", "sampled", "Python of a library", "no loop"],
)
def test_else_the_samples_tell(fields: dict[str, Any]) -> None:
    found = one(hot_python(written(**fields)))
    assert found.share_of_step < 0.65 and "Timed" not in found.detail
