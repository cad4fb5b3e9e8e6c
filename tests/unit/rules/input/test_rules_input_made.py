"""The rules about pipelines made again in the loop, and data baked into graphs or copied."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE, MS, make_samples
from input_builder import PREFETCH, evidence, mapped, one, pipeline, ranged, sampled, stage
from tfperfkit_probes.input.model import Stage
from tfperfkit_rules.input import rebuilt
from tfperfkit_rules.input.skipped_again import find_again

from tfperfkit.model import SourceSpan, Work
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
    """Divide a part of the data off once, which has a skip, too."""
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


@pytest.mark.parametrize(
    ("called", "counts"),
    [
        ("tensorflow.python.data.ops.dataset_ops:batch", True),
        ("tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__", False),
    ],
)
def test_a_line_that_makes_a_data_set_and_trains_costs_what_makes_it(called: str, counts: bool) -> None:
    """``[train_step(x) for x in rows.batch(64)]``"""
    made = pipeline(stage("TensorSlice", 6), line=7, way="", datasets_made=20, iterators=20, iterators_per_step=0.3)
    stacks = {1: Stack((Frame(FILE, 1, "<module>", 7, calls=(called,)),), "tensorflow", "graph")}
    log = SampleLog(stacks, [(number * 5 * MS + 40 * MS, 1) for number in range(100)])
    assert bool(list(rebuilt.made_in_loop(evidence(made, samples=sampled(), log=log)))) == counts


def test_a_data_set_in_a_graph_is_a_constant_of_it() -> None:
    arrays = stage("TensorSlice", 6, memory_bytes=60_000_000, in_graph=True)
    finding = one(rebuilt.constant_data(evidence(pipeline(arrays, in_graph="train"))))
    assert (finding.code, finding.basis, finding.where[0].line) == ("INP010", "risk", 6)
    outside = stage("TensorSlice", 6, memory_bytes=60_000_000)  # and iterated over in there
    assert not list(rebuilt.constant_data(evidence(pipeline(outside, in_graph="train"))))
    assert not list(rebuilt.constant_data(evidence(pipeline(outside))))
    large = stage("TensorSlice", 6, memory_bytes=900_000_000)
    assert one(rebuilt.constant_data(evidence(pipeline(large)))).severity == "low"  # of 8 GB that it may hold


HANDLER = """import tensorflow as tf
def answer(rows):
    kept = tf.data.Dataset.from_tensor_slices(rows).filter(large).map(clean)
    return list(kept.as_numpy_iterator())
for request in requests:
    answer(request)
"""


def handled(*rows: tuple[int, str, int], datasets_made: int = 17, above: tuple[Stage, ...] = ()) -> Evidence:
    """Return a loop that trains nothing, whose samples show (line, activity, times).

    Each line of the function is below the loop's.
    """
    stages = (
        stage("Map", 3, mapped=SourceSpan(FILE, 9, "Scorer.clean")),
        stage("Filter", 3, mapped=SourceSpan(FILE, 3, "<lambda>")),
        stage("TensorSlice", 3),
    )
    made = pipeline(*above, *stages, line=4, way="", datasets_made=datasets_made, iterators=64, in_training=False)
    head = Frame(FILE, 1, "<module>", 6)
    stacks, taken = {}, []
    for number, (line, activity, times) in enumerate(rows):
        stacks[number] = Stack((head, Frame(FILE, 2, "answer", line)), "tensorflow", activity)
        taken += [number] * times
    spread = [taken[number * 77 % len(taken)] for number in range(len(taken))]  # the requests alternate
    log = SampleLog(stacks, [(when * 3 * MS + 40 * MS, number) for when, number in enumerate(spread)])
    given = evidence(made, samples=sampled(), log=log, source=HANDLER, parts_ms={"eager_ops": 6.0, "tracing": 4.0})
    given.work = Work(kind="loop", where=SourceSpan(FILE, 5), seconds=3.0, share_of_run=0.5, iterations=None)
    return given


def test_a_pipeline_for_each_call_owns_all_that_passes_at_the_lines_that_build_and_read_it() -> None:
    given = handled((3, "tracing", 80), (3, "dispatch", 30), (4, "eager_ops", 50), (4, "input", 20), (6, "python", 20))
    finding = one(rebuilt.made_in_loop(given))
    assert finding.code == "INP012" and finding.share_of_step == pytest.approx(0.9, abs=0.03)
    low, high = ranged(finding)
    assert 3.5 < low < 1 / (1 - 0.8) and high > 1 / (1 - 0.9)  # reading, a tenth, stays if it is kept
    assert "each call of answer" in finding.title and "what clean does" in finding.advice
    assert {"RET012"} <= set(finding.absorbs) and [place.line for place in finding.where] == [3, 4]


def test_a_pipeline_that_is_built_once_or_takes_little_is_left_in_peace() -> None:
    busy = ((3, "tracing", 80), (4, "input", 100))
    assert not list(rebuilt.made_in_loop(handled(*busy, datasets_made=1)))
    assert not list(rebuilt.made_in_loop(handled((3, "tracing", 2), (6, "python", 178))))


def in_parts(
    *above: Stage, begins: tuple[int, ...] = (0, 100, 200, 300), kind: str = "Skip", below: str = "Map"
) -> Any:
    """Return a dataset of which a loop takes parts."""
    part = stage(kind, 3, begins=begins, parameters={"count": 300, "num_shards": 5})
    made = pipeline(*above, part, stage(below, 2), stage("TFRecord", 2), datasets_made=len(begins), way="")
    return find_again(made)


TAKE, IN_BATCHES = stage("Take", 3, parameters={"count": 100}), stage("Batch", 3, parameters={"batch_size": 100})


def test_parts_by_skip_read_all_before_them_again() -> None:
    found = in_parts(IN_BATCHES, TAKE)
    assert found.left_out == pytest.approx(150 / 250) and ".batch(100)" in found.advice
    assert "data[start:stop]" in in_parts(IN_BATCHES).advice and in_parts(IN_BATCHES).left_out is None
    folds = in_parts(TAKE, begins=(0, 1000, 2000, 3000))
    assert "batch(" not in folds.advice, "parts with gaps between them"


def test_parts_by_shard_read_all_of_the_others() -> None:
    found = in_parts(kind="Shard", begins=(0, 1, 2, 3, 4))
    assert found.left_out == pytest.approx(0.8) and "data[i::n]" in found.advice


def test_a_split_or_a_sample_is_no_part() -> None:
    assert in_parts(begins=(500,)) is None and in_parts(begins=(500, 700, 800)) is None
    assert in_parts(below="Shuffle") is None


def test_the_reading_that_skip_discards_goes_too() -> None:
    rows = (3, "tracing", 20), (4, "input", 160), (6, "python", 20)
    plain = one(rebuilt.made_in_loop(handled(*rows)))
    take, skip = stage("Take", 3, parameters={"count": 10}), stage("Skip", 3, begins=(0, 10, 20, 990))
    finding = one(rebuilt.made_in_loop(handled(*rows, above=(IN_BATCHES, take, skip))))
    assert "skip() reads from the start" in finding.title and ranged(finding)[0] > ranged(plain)[0]
    assert [row.value for row in finding.evidence if "discards" in row.name] == [
        pytest.approx(990 / 2 / (990 / 2 + 10))
    ]
