"""The rules about pipelines made anew in the loop, and data baked into graphs or copied."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE, MS, make_samples
from input_builder import PREFETCH, evidence, mapped, one, pipeline, ranged, sampled, stage
from tfperfkit_probes.input.model import Stage
from tfperfkit_rules.input import rebuilt

from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.rule import Evidence


def made_anew(*stages: Stage, **fields: Any) -> Evidence:
    shuffle = stage("Shuffle", 7, parameters={"buffer_size": 12_000})
    made = pipeline(*(stages or (shuffle, stage("TensorSlice", 7))), line=29, **{"way": "", **fields})
    samples = make_samples(
        [
            (70, "input", [Frame(FILE, 1, "<module>", 29)]),
            (30, "graph", [Frame(FILE, 1, "<module>", 30)]),
        ]
    )
    return evidence(made, samples=samples)


def test_an_iterator_for_each_step() -> None:
    finding = one(rebuilt.made_in_loop(made_anew(iterators=256, iterators_per_step=0.85)))
    assert finding.code == "INP012" and [place.line for place in finding.where] == [29, 7]
    low, high = ranged(finding)
    assert 2 < low < 1 / 0.3 < high and "INP001" in finding.absorbs


@pytest.mark.parametrize(("made", "numbered"), [(256, True), (1, False)])
def test_an_element_that_is_taken_by_its_number(made: int, numbered: bool) -> None:
    """A part of the data that is divided off once has a skip, too."""
    stages = stage("Take", 29, parameters={"count": 1}), stage("Skip", 29), stage("TensorSlice", 6)
    given = made_anew(*stages, iterators=256, iterators_per_step=0.85, datasets_made=made)
    finding = one(rebuilt.made_in_loop(given))
    assert ("rows = list(dataset.as_numpy_iterator())" in finding.advice) is numbered
    assert ("by its number" in finding.title) is numbered


def test_an_iterator_for_each_epoch_is_as_it_should_be() -> None:
    assert not list(rebuilt.made_in_loop(made_anew(iterators=6, iterators_per_step=0.03)))
    assert not list(rebuilt.made_in_loop(made_anew(iterators=256, iterators_per_step=0.85, way="fit")))


def test_a_data_set_built_in_the_loop_costs_what_its_lines_take() -> None:
    made = pipeline(
        mapped(), stage("TensorSlice", 6), line=29, way="", datasets_made=20, iterators=20, iterators_per_step=0.3
    )
    stacks = {
        1: Stack((Frame(FILE, 1, "<module>", 7),), "tensorflow", "dispatch"),
        2: Stack((Frame(FILE, 1, "<module>", 30),), "tensorflow", "graph"),
    }
    log = SampleLog(stacks, [(number * 5 * MS + 40 * MS, 1 if number % 2 else 2) for number in range(100)])
    given = evidence(made, samples=sampled(), log=log)
    finding = one(rebuilt.made_in_loop(given))
    assert finding.code == "INP012" and {place.line for place in finding.where} == {29, 7}
    strategy = stage("Generator", 29, cls="_ReincarnatedPerDeviceGenerator")
    of_devices = msgspec.structs.replace(made, stages=(PREFETCH, strategy))
    assert not list(rebuilt.made_in_loop(evidence(of_devices, samples=sampled(), log=log)))
    once = msgspec.structs.replace(made, datasets_made=1)
    assert not list(rebuilt.made_in_loop(evidence(once, samples=sampled(), log=log)))


def test_a_data_set_in_a_graph_is_a_constant_of_it() -> None:
    arrays = stage("TensorSlice", 6, memory_bytes=60_000_000, in_graph=True)
    finding = one(rebuilt.constant_data(evidence(pipeline(arrays, in_graph="train"))))
    assert (finding.code, finding.basis, finding.where[0].line) == ("INP010", "risk", 6)
    outside = stage("TensorSlice", 6, memory_bytes=60_000_000)  # and iterated over in there
    assert not list(rebuilt.constant_data(evidence(pipeline(outside, in_graph="train"))))
    assert not list(rebuilt.constant_data(evidence(pipeline(outside))))
    large = stage("TensorSlice", 6, memory_bytes=900_000_000)
    assert one(rebuilt.constant_data(evidence(pipeline(large)))).severity == "low"  # of 8 GB that it may hold
