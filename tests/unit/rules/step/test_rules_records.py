"""LIN001 where several functions make one record: by what they do, not by what they hand to TensorFlow."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, make_evidence, make_samples
from tfperfkit_rules.step import python_time

from tfperfkit.model import Finding
from tfperfkit.records.samples import Frame

SOURCE = """\
import tensorflow as tf
def floats(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))
def record(x):
    return tf.train.Example(features=tf.train.Features(feature={"x": floats(x)}))
writer = tf.io.TFRecordWriter(path)
for x in xs:
    writer.write(record(x).SerializeToString())
"""
WRITE = "tensorflow.python.lib.io.tf_record:write"


def found(source: str) -> list[Finding]:
    loop = Frame(FILE, 1, "<module>", 8)
    making = Frame(FILE, 4, "record", 5)
    samples = make_samples(
        [
            (30, "python", [loop, making]),
            (25, "python", [loop, making, Frame(FILE, 2, "floats", 3)]),
            (5, "python", [loop]),
            (40, "dispatch", [loop._replace(calls=(WRITE,))]),
        ]
    )
    parts = {"python": 60.0, "dispatch": 40.0}
    return list(python_time.hot_python(make_evidence(parts_ms=parts, samples=samples, source=source)))


def test_functions_that_make_one_record_are_one_finding() -> None:
    (finding,) = found(SOURCE)
    assert "Making tf.train.Example records" in finding.title and "BytesList" in finding.advice
    assert {3, 5} <= {place.line for place in finding.where}
    assert 0.5 < finding.share_of_step <= 0.6


@pytest.mark.parametrize("other", ["json.loads(values)", "[v * v for v in values]"])
def test_work_of_another_kind_is_a_finding_of_its_own(other: str) -> None:
    source = SOURCE.replace("tf.train.Feature(float_list=tf.train.FloatList(value=values))", other)
    first, second = found(source.replace("import tensorflow as tf", "import json, tensorflow as tf"))
    assert [item.where[0].line for item in (first, second)] == [5, 3]
    assert "making tf.train.Example" not in second.title
