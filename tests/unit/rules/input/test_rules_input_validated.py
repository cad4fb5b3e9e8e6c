"""The saving of a finding on the steps' input in validation, which uses the same stage."""

from __future__ import annotations

import msgspec
import pytest
from evidence_builder import FILE, MS
from input_builder import BATCH, PREFETCH, evidence, mapped, one, pipeline, stage
from tfperfkit_rules.input import RULES

from tfperfkit import gain
from tfperfkit.model import Finding
from tfperfkit.records.samples import Frame, SampleLog, Stack

SEEN = Frame(FILE, 1, "<module>", 20, calls=("keras.src.backend.tensorflow.trainer:fit",))
#: 2 s of validation's compiled call, 1 s of its Python, 1 s of its tracing.
LOG = SampleLog(
    {
        1: Stack((SEEN,), "tensorflow", "graph", "evaluate"),
        2: Stack((SEEN,), "tensorflow", "dispatch", "evaluate"),
        3: Stack((SEEN,), "tensorflow", "tracing", "evaluate"),
        4: Stack((SEEN,), "tensorflow", "graph", ""),
    },
    [(n * 50 * MS, 4 if n < 40 else 1 if n < 80 else 2 if n < 100 else 3) for n in range(120)],
)


def told(line: int) -> Finding:
    files, shuffle = stage("TensorSlice", 3), stage("Shuffle", 6, parameters={"buffer_size": 240}, buffered_mean=200.0)
    stages = (PREFETCH, BATCH, shuffle, mapped("ParallelMap"), files)
    trained = pipeline(*stages, iterators=12, bound_by=3, bound_ms_per_output=9.5)
    slow = msgspec.structs.replace(mapped("ParallelMap"), line=line, mapped=None)
    validated = pipeline(PREFETCH, BATCH, slow, files, role="validation", in_training=False, way="evaluate")
    given = evidence(trained, validated, log=LOG)
    return one(item for rule in RULES for item in rule(given) if item.code == "INP006")


def test_validation_that_goes_through_the_same_line_is_in_the_seconds() -> None:
    found = told(line=7)
    low, high = found.gain.bounds or (0.0, 0.0)
    assert [other.seconds for other in found.elsewhere] == [
        pytest.approx((2.0 * gain.saving(low), 3.0 * gain.saving(high)))
    ]


def test_validation_with_a_pipeline_of_its_own_is_not() -> None:
    assert told(line=15).elsewhere == ()
