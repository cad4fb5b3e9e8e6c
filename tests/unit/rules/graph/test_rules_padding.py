"""GRF018: arrays of sequences that are mostly padding, in steps that look words up."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, make_evidence
from input_builder import pipeline, stage
from tfperfkit_probes.input.model import InputData, KerasInput, Stage
from tfperfkit_rules.graph.padding import padding

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.records.pipelines import Padding

SHORT = Padding(width=200, mean=20.0, longest=120, alike=30.0, quartiles=(10, 18, 30), rows=512)
FULL = Padding(width=200, mean=190.0, longest=200, alike=192.0, quartiles=(185, 192, 198), rows=512)


def operation(type_: str, ms: float, stage: Any = "forward", layer: str = "model/embedding") -> ComputedOperation:
    return ComputedOperation(name=f"{layer}/{type_}", type=type_, stage=stage, runs=1, ms=ms, busy_ms=ms, layer=layer)


def findings(padded: Padding | None, *, lookup: str = "ResourceGather", **fields: Any) -> list[Finding]:
    """Judge a step of 10 ms: 8 compiled, of which the update takes a quarter."""
    operations = (operation(lookup, 1.0), operation("While", 4.0, layer="model/lstm"), operation("Adam", 2.0, "update"))
    step = ComputedStep(ms=8.0, idle_ms=1.0, waits_ms=0, unknown_ms=0, operations=operations, batch=64)
    given = {"kind": "arrays", "way": "fit", "validation": False, "batch_size": 64, "padding": padded, **fields}
    row = KerasInput(file=FILE, line=9, function="<module>", **given)
    evidence = make_evidence(
        parts_ms={"graph": 8.0, "dispatch": 2.0},
        data={"input": InputData(pipelines=(), keras=(row,), steps=60)},
        offers={"lines": (step,)},
    )
    return list(padding(evidence))


def test_most_of_the_sequences_is_padding() -> None:
    (found,) = findings(SHORT)
    assert (found.code, rank([found])[0].severity, found.where) == (
        "GRF018",
        "high",
        (SourceSpan(FILE, 9, "<module>"),),
    )
    assert found.title == "90 % of the sequences given to fit is padding"
    assert found.share_of_step == pytest.approx(0.8 * 0.75 * 0.9)
    saved = 0.8 * 0.75 * 0.85
    assert found.gain.bounds == pytest.approx((1 / (1 - 0.6 * saved), 1 / (1 - 0.95 * saved)))
    assert "maxlen=120" in found.advice and "[10, 18, 30]" in found.advice and "[64, 64, 64, 64]" in found.advice


@pytest.mark.parametrize(
    ("padded", "fields"),
    [(FULL, {}), (None, {}), (SHORT, {"way": "predict"}), (SHORT, {"validation": True}), (SHORT, {"lookup": "MatMul"})],
    ids=["hardly any", "no sequences", "not trained on", "validation", "a table of features"],
)
def test_silent(padded: Padding | None, fields: dict[str, Any]) -> None:
    assert findings(padded, **fields) == []


def sliced(*above: Stage, padded: Padding | None = SHORT, **fields: Any) -> list[Finding]:
    """Sequences that a dataset is made of, instead of arrays given to ``fit``."""
    operations = (operation("ResourceGather", 1.0), operation("While", 5.0, layer="model/lstm"))
    step = ComputedStep(ms=8.0, idle_ms=1.0, waits_ms=0, unknown_ms=0, operations=operations)
    batch = stage("Batch", 12, parameters={"batch_size": 16})
    feeding = pipeline(stage("Prefetch", 12), batch, *above, stage("TensorSlice", 11, padding=padded), **fields)
    evidence = make_evidence(
        parts_ms={"graph": 8.0, "dispatch": 2.0},
        data={"input": InputData(pipelines=(feeding,), keras=(), steps=60)},
        offers={"lines": (step,)},
    )
    return list(padding(evidence))


def test_sequences_that_a_dataset_is_made_of() -> None:
    (found,) = sliced(stage("Shuffle", 11))
    assert (found.code, found.where[0].line) == ("GRF018", 11)
    assert found.title == "90 % of the sequences that the dataset is made of is padding"
    assert "[16, 16, 16, 16]" in found.advice
    assert not sliced(stage("Map", 11, mapped=SourceSpan(FILE, 3, "cut"))), "it may cut them"
    assert not sliced(padded=FULL) and not sliced(padded=None) and not sliced(in_training=False)


def batches(filled: float | None, **fields: Any) -> list[Finding]:
    step = ComputedStep(
        ms=8.0,
        idle_ms=1.0,
        waits_ms=0,
        unknown_ms=0,
        operations=(operation("While", 6.0), operation("Adam", 2.0, "update")),
    )
    stages = (stage("Prefetch", 12), stage("PaddedBatch", 11, filled=filled))
    evidence = make_evidence(
        parts_ms={"graph": 8.0, "dispatch": 2.0},
        data={"input": InputData(pipelines=(pipeline(*stages, **fields),), keras=(), steps=60)},
        offers={"lines": (step,)},
    )
    return list(padding(evidence))


def test_batches_are_mostly_padding() -> None:
    (found,) = batches(0.25)
    assert (found.code, found.where[0].line, found.title) == (
        "GRF018",
        11,
        "75 % of the batches of padded_batch is padding",
    )
    assert found.share_of_step == pytest.approx(0.8 * 0.75 * 0.75)
    assert found.gain.bounds is not None and 1.2 < found.gain.bounds[0] < found.gain.bounds[1] < 1.8


def test_batches_of_like_lengths_are_left_in_peace() -> None:
    assert not batches(0.85) and not batches(None) and not batches(0.25, in_training=False)
