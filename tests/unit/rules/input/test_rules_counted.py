"""INP017: a dataset that is gone through to count its elements, and lines that resemble it."""

from __future__ import annotations

import pytest
from evidence_builder import FILE
from input_builder import one, pipeline, stage
from tfperfkit_probes.input.model import InputData, Stage
from tfperfkit_rules.input.counted import counted_elements
from work_builder import frame, sampled, work_evidence

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

NEXT = "tensorflow.python.data.ops.iterator_ops:__next__"
SOURCE = """import tensorflow as tf

def generator():
    yield from train

train = tf.data.Dataset.from_tensor_slices(x).map(decode).batch(32)
steps = {count}
model.fit(train)
"""
BATCHED = (stage("Batch", 6), stage("ParallelMap", 6), stage("TensorSlice", 6))


def counting(count: str, *stages: Stage, prepared: int = 90, line: int = 7, call: str = NEXT) -> Evidence:
    """Return a call at line 7 whose samples mostly wait for elements, in a run that then trains on the same dataset."""
    shared = (SourceSpan(FILE, 7, ""), SourceSpan(FILE, 8, ""))
    data = InputData(pipelines=(pipeline(*(stages or BATCHED), line=8, shared=shared),))
    stacks = [sampled(prepared, "input", frame(line, call)), sampled(100 - prepared, "python", frame(line))]
    return work_evidence(SOURCE.format(count=count), stacks, call=line, data={"input": data})


@pytest.mark.parametrize(
    "count",
    [
        "len(list(train))",
        "3 * len(tuple(train.as_numpy_iterator()))",
        "len([1 for _ in train])",
        "len([batch for batch in train])",
        "sum(1 for _ in train)",
    ],
)
def test_all_elements_are_prepared_to_count_them(count: str) -> None:
    finding = one(counted_elements(counting(count)))
    assert (finding.code, finding.where[0].line) == ("INP017", 7)
    assert "cardinality()" in finding.advice and "INP001" in finding.absorbs
    assert finding.share_of_step == pytest.approx(0.9)


@pytest.mark.parametrize(
    "count",
    [
        "list(train)",
        "len(train)",
        "sum(x for x in train)",
        "sum(1 for x in train if x > 0)",
        "len([x for x in train if x > 0])",
        "len([x for batch in train for x in batch])",
        "len(set(train))",
        "sum(2 for _ in train)",
        "len([step(batch) for batch in train])",
        "len(list(map(step, train)))",
        "len(list(zip(train, answers)))",
        "len(kept := list(train))",
        "sum(1 for _ in generator())",
    ],
)
def test_elements_that_are_used_or_nothing_that_is_prepared(count: str) -> None:
    assert list(counted_elements(counting(count))) == []


@pytest.mark.parametrize("kind", ["Filter", "FlatMap", "Generator", "TFRecord", "Cache", "ParallelInterleave"])
def test_a_dataset_of_unknown_size_and_one_that_keeps_its_elements(kind: str) -> None:
    assert (
        list(counted_elements(counting("len(list(train))", stage("Batch", 6), stage(kind, 6), stage("TensorSlice", 6))))
        == []
    )


def test_a_line_that_does_something_else_most_of_the_time() -> None:
    assert list(counted_elements(counting("len(list(train))", prepared=40))) == []
    assert list(counted_elements(counting("len(list(train))", call="numpy:stack"))) == []


def test_only_that_line_is_meant() -> None:
    assert list(counted_elements(counting("len(list(train))", line=8))) == []
