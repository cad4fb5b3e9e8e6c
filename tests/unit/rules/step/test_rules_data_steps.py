"""The rule about numbers of steps that do not fit the data, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_samples
from input_builder import evidence, pipeline, stage
from tfperfkit_probes.input.model import KerasInput, ShortData
from tfperfkit_rules.step.data_steps import steps_beyond_data

from tfperfkit.records.samples import Frame, SampleLog, Stack

FIT = Frame(FILE, 1, "<module>", 20, None, ("keras.src.backend.tensorflow.trainer:fit",))
SOURCE = stage("TensorSlice", 4, bytes_per_element=8, memory_bytes=8 * 1200)
BATCH = stage("Batch", 5, parameters={"batch_size": 64})
REPEAT = stage("Repeat", 6, parameters={"count": -1})


def given(*stages: Any, steps: int | None = 1200, validation: bool = True, evaluating: int = 60, **inputs: Any) -> Any:
    """Return a fit at line 20 in a run of eight seconds, of which validation has so many hundredths."""
    made = pipeline(*(stages or (REPEAT, BATCH, SOURCE)), role="validation" if validation else "training")
    row = KerasInput(
        kind="tf.data",
        way="fit",
        validation=validation,
        file=FILE,
        line=20,
        function="",
        steps=steps,
        pipeline=0,
    )
    stacks = {1: Stack((FIT,), "keras", "graph", "evaluate"), 2: Stack((FIT,), "keras", "graph")}
    log = SampleLog(stacks, [(n * 80 * MS, 1 if n % 100 < evaluating else 2) for n in range(101)])
    samples = make_samples([(100, "graph", [FIT])])
    return evidence(made, inputs={"keras": (row,), **inputs}, log=log, samples=samples, wall_s=8.0)


def test_a_validation_that_goes_through_its_data_again_is_reported_with_the_steps_it_needs() -> None:
    (finding,) = steps_beyond_data(given())
    assert finding.code == "STP013" and finding.where[0].line == 20
    assert finding.title == "validation_steps does not match the data: each validation repeats it 64.0 times"
    assert "validation_steps=19." in finding.advice
    assert finding.gain.bounds is not None and 1.0 < finding.gain.bounds[0] < finding.gain.bounds[1]


@pytest.mark.parametrize(
    ("stages", "fields"),
    [
        ((REPEAT, BATCH, SOURCE), {"steps": 19}),
        ((REPEAT, BATCH, SOURCE), {"steps": None}),
        ((REPEAT, BATCH, SOURCE), {"evaluating": 5}),
        ((BATCH, SOURCE), {}),  # it ends by itself
        ((REPEAT, BATCH, stage("Filter", 5), SOURCE), {}),  # nobody knows how many are left
        ((REPEAT, BATCH, stage("Generator", 4)), {}),
    ],
)
def test_what_fits_or_is_not_known_is_left_in_peace(stages: Any, fields: Any) -> None:
    assert not list(steps_beyond_data(given(*stages, **fields)))


def test_an_epoch_of_as_many_batches_as_there_are_examples() -> None:
    (finding,) = steps_beyond_data(given(validation=False))
    assert "64 times" in finding.title and finding.gain.likely is None and "steps_per_epoch=19" in finding.advice
    assert not list(steps_beyond_data(given(validation=False, steps=100)))


def test_data_that_ran_out_is_a_remark() -> None:
    short = ShortData(way="fit", validation=False, file=FILE, line=20, function="", asked=50, had=20, times=3)
    (finding,) = steps_beyond_data(given(steps=19, ran_out=(short,)))
    assert (
        finding.severity == "info"
        and "steps_per_epoch does not match the data: 50, and there are 20 batches" in finding.title
    )
