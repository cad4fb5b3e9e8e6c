"""From readings to stages: what belongs together, what was measured, which stage bounds a pipeline."""

from __future__ import annotations

import pytest
from tfperfkit_probes.input.bound import bound
from tfperfkit_probes.input.model import Stage
from tfperfkit_probes.input.nodes import align, family, measure
from tfperfkit_probes.input.streams import Reading

from tfperfkit.records.pipelines import Node


def reading(step: int, *nodes: Node, iterator: int = 1) -> Reading:
    return Reading(iterator=iterator, step=step, ns=step * 1_000_000, root=1, nodes=nodes)


def simple(step: int, outputs: int, map_ns: int, **more: int) -> Reading:
    return reading(
        step,
        Node(1, "Root", (2,), outputs, 5, 0, 0),
        Node(2, "MapAndBatch", (3,), outputs, map_ns, 2, 0, 2.0),
        Node(3, "TensorSlice", (), outputs * 8, 100, 0, 0),
        **more,
    )


@pytest.mark.parametrize(
    ("python", "model"),
    [
        ("_MapDataset", "ParallelMapV2"),
        ("_BatchDataset", "BatchV2"),
        ("_RepeatDataset", "ForeverRepeat"),
        ("CacheDataset", "MemoryCache"),
        ("_TensorDataset", "FromTensor"),
        ("TFRecordDatasetV2", "TFRecord"),
        ("_TakeDataset", "FiniteTake"),
        ("_ParallelInterleaveDataset", "ParallelInterleaveV4"),
        ("_PaddedBatchDataset", "PaddedBatchV2"),
        ("_GeneratorDataset", "Generator"),
    ],
)
def test_names_of_one_family(python: str, model: str) -> None:
    assert family(python) == family(model)


def test_different_stages_are_no_family() -> None:
    assert len({family(name) for name in ("Map", "Batch", "Prefetch", "Shuffle", "TensorSlice", "TFRecord")}) == 6


def test_what_tensorflow_adds_stands_between() -> None:
    ours = ["_BatchDataset", "_MapDataset", "_RangeDataset"]
    pairs = align(ours, ["Prefetch", "BatchV2", "ParallelMapV2", "Range"])
    assert pairs == [(None, 0), (0, 1), (1, 2), (2, 3)]


def test_figures_are_those_between_the_readings() -> None:
    # The first element took long: what was before the first reading does not count.
    found = measure([simple(3, 1, 900), simple(5, 3, 1100), simple(13, 11, 1900)])
    assert found is not None
    assert (found.outputs, found.steps, found.step_outputs) == (10, 10, 10)
    stage = found.stages[0]
    assert (stage.name, stage.self_ns, stage.elements, stage.parallelism) == ("MapAndBatch", 100.0, 1.0, 2.0)
    assert found.stages[1].elements == 8.0


def test_an_iterator_read_once_counts_from_its_making_but_tells_no_rate() -> None:
    found = measure([simple(5, 4, 400)])
    assert found is not None
    assert (found.stages[0].self_ns, found.outputs, found.steps) == (100.0, 4, 0)


def test_nothing_fetched_is_nothing_measured() -> None:
    assert measure([simple(5, 4, 400), simple(9, 4, 500)]) is None
    assert measure([]) is None


def test_a_stretch_in_which_the_source_ended_is_left_out() -> None:
    gone = reading(30, Node(1, "Root", (2,), 50, 5, 0, 0), Node(2, "MapAndBatch", (), 50, 99_999, 0, 0))
    found = measure([simple(3, 1, 900), simple(13, 11, 1900), gone])
    assert found is not None
    assert found.stages[0].self_ns == 100.0


def test_files_of_an_interleave_are_one_stage() -> None:
    def at(step: int, outputs: int, first: int, second: int) -> Reading:
        return reading(
            step,
            Node(1, "Root", (2,), outputs, 0, 0, 0),
            Node(2, "ParallelInterleaveV4", (3, 4, 5), outputs, 0, 0, 0, 2.0),
            Node(3, "TensorSlice", (), 2, 0, 0, 0),
            Node(4, "TFRecord", (), outputs // 2, first, 0, 0),
            Node(5, "TFRecord", (), outputs // 2, second, 0, 0),
        )

    found = measure([at(3, 10, 0, 0), at(13, 20, 500, 1500)])
    assert found is not None
    assert [(stage.name, stage.nested) for stage in found.stages] == [
        ("ParallelInterleaveV4", False),
        ("TFRecord", True),
        ("TensorSlice", False),
    ]
    assert (found.stages[1].self_ns, found.stages[1].elements) == (200.0, 1.0)


def stage(kind: str, own: float, threads: float | None = None, nested: int | None = None) -> Stage:
    return Stage(kind=kind, cls=kind, self_ms_per_output=own, parallelism=threads, nested=nested)


def bounded(*stages: Stage) -> tuple[int | None, float | None]:
    return bound(stages, [item.kind for item in stages])


def test_the_longest_stage_of_a_sequential_pipeline_bounds_it() -> None:
    assert bounded(stage("Batch", 1), stage("Map", 5), stage("Range", 2)) == (1, 8)


def test_parallel_calls_divide_the_time() -> None:
    # 12 ms on four threads are 3 ms; reading on one thread takes 4.
    assert bounded(stage("Batch", 1), stage("ParallelMap", 12, 4), stage("TFRecord", 4)) == (2, 4)
    assert bounded(stage("Batch", 1), stage("ParallelMap", 20, 4), stage("TFRecord", 4)) == (1, 5)


def test_a_prefetch_separates_what_is_above_it() -> None:
    above, below = stage("Map", 6), stage("Shuffle", 4)
    assert bounded(above, stage("Prefetch", 0), below, stage("Range", 1)) == (0, 6)
    assert bounded(above, below, stage("Range", 1)) == (0, 11)


def test_what_interleave_runs_shares_its_threads() -> None:
    found = bounded(stage("ParallelInterleave", 0, 4), stage("TFRecord", 8, nested=0), stage("TensorSlice", 3))
    assert found == (2, 3)


def test_without_figures_nothing_bounds() -> None:
    assert bound([Stage(kind="Map", cls="_MapDataset")], ["Map"]) == (None, None)
    waiting = Stage(kind="ParallelMap", cls="_ParallelMapDataset")  # a trace sees it wait, not work
    assert bound([waiting, stage("Range", 3)], ["ParallelMapV2", "Range"]) == (None, None)
