"""The analysing half on made records: pipelines, roles, loaders, values that stay the same."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tfperfkit_probes.input.model import InputData
from tfperfkit_probes.input.probe import InputProbe
from tfperfkit_probes.input.streams import DATASETS, ITERATORS, KERAS, READINGS, RETURNED, Reading, Watched

from tfperfkit.instruments.input.returns import Returns, fingerprint
from tfperfkit.records.pipelines import Description, KerasData, MadeDataset, MadeIterator, Node, Origin, Place, Returned
from tfperfkit.testing import FakeRecording, capture_of, check_result, even_steps

MS = 1_000_000
FILE = "/home/u/train.py"


def dataset(number: int, cls: str, *inputs: int, line: int = 5, by: Any = "user", **more: Any) -> MadeDataset:
    about = more.pop("about", Description())
    origin = Origin(file=FILE, line=line, function="main", by=by, way="fit" if by == "keras" else "")
    return MadeDataset(number=number, cls=cls, inputs=inputs, origin=origin, about=about, ns=number, **more)


def iterator(number: int, of: int, line: int = 9, way: str = "", **more: Any) -> list[Any]:
    origin = Origin(file=FILE, line=line, function="main", by="keras" if way else "user", way=way)
    return [MadeIterator(number=number, dataset=of, origin=origin, **more), 0]


def reading(step: int, outputs: int, own_ns: int, of: int = 1) -> Reading:
    nodes = (
        Node(1, "Root", (2,), outputs, 0, 0, 0),
        Node(2, "Prefetch", (3,), outputs, 0, 1, 0, None, 2.0, True),
        Node(3, "BatchV2", (4,), outputs, 0, 0, 0),
        Node(4, "Map", (5,), outputs * 8, own_ns, 0, 0),
        Node(5, "TensorSlice", (), outputs * 8, 0, 0, 0),
    )
    return Reading(iterator=of, step=step, ns=step * MS, root=1, nodes=nodes)


def analyzed(folder: Path, streams: dict[str, list[Any]], session: dict[str, list[Any]] | None = None) -> InputData:
    recording = FakeRecording(folder)
    for stream, records in streams.items():
        for record in records:
            recording.append(stream, record)
    recording.session_streams.update(session or {})
    result = InputProbe().analyze(capture_of(recording, steps=even_steps(20, 10 * MS, warmup=2)))
    check_result(result)
    assert isinstance(result.data, InputData)
    return result.data


def chain(first: int = 1, **more: Any) -> list[MadeDataset]:
    mapped = Description(mapped=Place(file=FILE, line=2, function="slow"), python_ops=("PyFunc",))
    return [
        dataset(first, "_TensorSliceDataset", line=4, **more),
        dataset(first + 1, "_MapDataset", first, about=mapped, **more),
        dataset(first + 2, "_OptionsDataset", first + 1, **more),
        dataset(first + 3, "_BatchDataset", first + 2, **more),
    ]


def test_a_skip_has_the_counts_of_all_that_its_line_built(tmp_path: Path) -> None:
    datasets, iterators = [*chain()], []
    for number, count in enumerate((0, 100, 200, 100)):
        datasets.append(dataset(10 + number, "_SkipDataset", 4, about=Description(parameters={"count": count})))
        iterators.append(iterator(number + 1, 10 + number))
    (pipeline,) = analyzed(tmp_path, {DATASETS: datasets, ITERATORS: iterators}).pipelines
    assert [(stage.kind, stage.begins) for stage in pipeline.stages if stage.begins] == [("Skip", (0, 100, 200))]


def test_stages_carry_lines_and_figures(tmp_path: Path) -> None:
    data = analyzed(
        tmp_path,
        {
            DATASETS: chain(),
            ITERATORS: [iterator(1, 4)],
            READINGS: [reading(3, 2, 0), reading(13, 12, 50 * MS)],
        },
    )
    (pipeline,) = data.pipelines
    assert [stage.kind for stage in pipeline.stages] == ["Prefetch", "Batch", "Map", "TensorSlice"]
    added, _, mapped, source = pipeline.stages
    assert added.added and added.file == "" and (added.buffer, added.buffered_mean) == (2.0, 1.0)
    assert (mapped.self_ms_per_output, mapped.self_ms_per_step, mapped.share, mapped.elements) == (5.0, 5.0, 1.0, 8.0)
    assert mapped.is_python and mapped.mapped is not None and mapped.mapped.line == 2
    assert (source.line, pipeline.line, pipeline.bound_by, pipeline.in_training) == (4, 9, 2, True)
    assert (pipeline.iterators, pipeline.iterators_per_step, pipeline.measured) == (1, 0.05, "model")


def test_what_one_function_makes_for_training_and_for_validation_are_two_pipelines(tmp_path: Path) -> None:
    fitted = [iterator(number, 4, way="fit", made=number) for number in (1, 3)]
    evaluated = [iterator(number, 14, way="evaluate") for number in (2, 4)]
    data = analyzed(
        tmp_path,
        {
            DATASETS: [*chain(), *chain(11)],
            ITERATORS: [fitted[0], evaluated[0], fitted[1], evaluated[1], iterator(5, 14, line=30, way="evaluate")],
            READINGS: [reading(3, 2, 0), reading(13, 12, 50 * MS)],
        },
    )
    assert [item.role for item in data.pipelines] == ["training", "validation"]
    assert data.pipelines[0].stages[2].self_ms_per_step == 5.0


def test_what_is_made_anew_for_each_epoch_stays_one_pipeline(tmp_path: Path) -> None:
    peeked = iterator(1, 4, line=8)
    loops = [iterator(number, of) for number, of in ((2, 4), (3, 14), (4, 24))]
    data = analyzed(tmp_path, {DATASETS: [*chain(), *chain(11), *chain(21)], ITERATORS: [peeked, *loops]})
    assert [item.datasets_made for item in data.pipelines] == [3]


def test_an_iterator_that_gives_little_does_not_feed_the_steps(tmp_path: Path) -> None:
    other = [dataset(11, "_RangeDataset", line=20)]
    data = analyzed(
        tmp_path,
        {
            DATASETS: [*chain(), *other],
            ITERATORS: [iterator(1, 4), iterator(2, 11, line=30)],
            READINGS: [reading(3, 2, 0), reading(3, 1, 0, of=2), reading(13, 12, MS), reading(13, 2, MS, of=2)],
        },
    )
    assert [(item.line, item.role) for item in data.pipelines] == [(9, "training"), (30, "other")]


def test_the_same_lines_again_are_one_pipeline_and_iterators_are_counted(tmp_path: Path) -> None:
    made = [item for first in (1, 11, 21) for item in chain(first)]
    iterators = [iterator(n, 4 + 10 * (n - 1), made=n) for n in (1, 2, 3)] + [iterator(4, 0, made=20)]
    (pipeline,) = analyzed(tmp_path, {DATASETS: made, ITERATORS: iterators}).pipelines
    assert (pipeline.datasets_made, pipeline.iterators, pipeline.iterators_per_step) == (3, 20, 1.0)


def test_validation_data_of_fit_is_reported_apart(tmp_path: Path) -> None:
    data = analyzed(
        tmp_path,
        {
            DATASETS: [*chain(), dataset(11, "_RangeDataset", line=6)],
            ITERATORS: [iterator(1, 4, way="fit"), iterator(2, 11, way="fit")],
            KERAS: [
                KerasData(kind="tf.data", way="fit", file=FILE, line=9, function="main", dataset=4),
                KerasData(kind="tf.data", way="fit", file=FILE, line=9, function="main", dataset=11, validation=True),
            ],
        },
    )
    assert [item.role for item in data.pipelines] == ["training", "validation"]
    assert [(row.validation, row.pipeline) for row in data.keras] == [(False, 0), (True, 1)]


def test_a_pipeline_inside_a_compiled_function(tmp_path: Path) -> None:
    inside = {"graph": 1, "graph_name": "epoch"}
    loop = dataset(5, "_ScanDataset", 4, function_graph=2, **inside)
    (pipeline,) = analyzed(tmp_path, {DATASETS: [*chain(**inside), loop]}).pipelines
    assert (pipeline.in_graph, pipeline.in_training, pipeline.measured) == ("epoch", True, "")
    assert [stage.kind for stage in pipeline.stages] == ["Batch", "Map", "TensorSlice"]


def test_a_pipeline_that_a_compiled_function_gets_as_an_argument(tmp_path: Path) -> None:
    inside = {"graph": 1, "graph_name": "epoch"}
    passed = dataset(5, "_VariantDataset", 4, line=12, **inside)
    unused = dataset(6, "_VariantDataset", 4, line=12, **inside)
    loop = dataset(7, "_ScanDataset", 5, function_graph=2, **inside)
    (pipeline,) = analyzed(tmp_path, {DATASETS: [*chain(), passed, unused, loop]}).pipelines
    assert (pipeline.in_graph, pipeline.in_training, pipeline.datasets_made) == ("epoch", True, 1)
    assert [(stage.kind, stage.line, stage.in_graph) for stage in pipeline.stages] == [
        ("Batch", 5, False),
        ("Map", 5, False),
        ("TensorSlice", 4, False),
    ]


def test_the_function_of_interleave_has_its_stages_below_it(tmp_path: Path) -> None:
    made = [
        dataset(1, "_TensorSliceDataset"),
        dataset(2, "_TFRecordDataset", graph=7, graph_name="Dataset_interleave_x"),
        dataset(3, "_InterleaveDataset", 1, function_graph=7),
    ]
    (pipeline,) = analyzed(tmp_path, {DATASETS: made, ITERATORS: [iterator(1, 3)]}).pipelines
    assert [(stage.kind, stage.nested) for stage in pipeline.stages] == [
        ("Interleave", None),
        ("TFRecord", 0),
        ("TensorSlice", None),
    ]


def opened(path: str, opens: int, first_ms: int, last_ms: int) -> list[Any]:
    return [path, [[FILE, 3, "load"], [FILE, 8, "main"]], opens, first_ms * MS, last_ms * MS, 1000]


def test_a_file_opened_at_every_step_is_a_loader(tmp_path: Path) -> None:
    (found,) = analyzed(tmp_path, {}, {"opens": [opened("a.npz", 5, 5, 50), opened("a.npz", 20, 5, 195)]}).loaders
    assert (found.opens, found.opens_per_step, found.bytes_per_step, found.paths) == (20, 1.0, 1000.0, 1)
    assert [place.line for place in found.chain] == [3, 8]
    assert found.share_of_step is None  # there are no samples


@pytest.mark.parametrize(
    "rows",
    [
        [opened("a.npz", 20, -90, -10)],  # before the first step
        [opened("a.npz", 20, 5, 6)],  # once, in one step
        [opened("a.npz", 2, 5, 195)],  # now and then
        [opened("a.pyc", 20, 5, 195)],
    ],
)
def test_what_is_no_loader(tmp_path: Path, rows: list[Any]) -> None:
    assert analyzed(tmp_path, {}, {"opens": rows}).loaders == ()


def returned(values: dict[str, int], size: int = 4000, unknown: int = 0) -> Returned:
    calls = sum(values.values()) + unknown
    return Returned(
        file=FILE, line=3, function="load", calls=calls, values=values, unknown=unknown, what="float32[1000]", size=size
    )


def test_the_same_value_in_two_steps_is_reported(tmp_path: Path) -> None:
    watched = [Watched(step=step, functions=[returned({"a": 2})]) for step in (2, 3)]
    (found,) = analyzed(tmp_path, {RETURNED: watched}).constant_functions
    assert (found.function, found.calls, found.steps, found.calls_per_step) == ("load", 4, 2, 2.0)


@pytest.mark.parametrize(
    "rows",
    [
        [returned({"a": 1}), returned({"b": 1})],
        [returned({"a": 2})],  # one step
        [returned({"a": 1}, size=8), returned({"a": 1}, size=8)],  # a number
        [returned({"a": 1}), returned({"a": 1}, unknown=1)],
    ],
)
def test_what_is_not_reported_as_constant(tmp_path: Path, rows: list[Returned]) -> None:
    watched = [Watched(step=2 + place, functions=[row]) for place, row in enumerate(rows)]
    assert analyzed(tmp_path, {RETURNED: watched}).constant_functions == ()


def test_fingerprints_tell_values_apart() -> None:
    values = [
        np.zeros(8),
        np.zeros(9),
        np.zeros(8, np.float32),
        np.zeros((2, 4)),
        np.ones(8),
        (np.zeros(8),),
        [np.zeros(8)],
        {"x": np.zeros(8)},
        {"y": np.zeros(8)},
        b"ab",
        "ab",
        1,
        1.0,
        True,
    ]
    found = [fingerprint(value) for value in values]
    assert None not in found
    assert len({item[0] for item in found if item}) == len(values)
    assert fingerprint(np.zeros(8)) == fingerprint(np.zeros(8))


def test_large_arrays_are_sampled_all_over() -> None:
    large = np.zeros(3_000_000, np.float32)
    before = fingerprint(large)
    large[1_000_000:1_100_000] = 1
    assert before is not None and before[2] == 12_000_000
    assert fingerprint(large) != before


@pytest.mark.parametrize("value", [None, object(), np.array([object()]), [object()], lambda: 0, {1, 2}])
def test_what_has_no_value_of_its_own(value: Any) -> None:
    assert fingerprint(value) is None


def load(value: int) -> Any:
    return np.full(100, value)


def numbers() -> Any:
    yield np.zeros(100)


def test_only_the_chosen_functions_are_watched() -> None:
    watching = Returns([load.__code__, numbers.__code__])
    watching.start()
    try:
        load(1)
        load(1)
        list(numbers())
        returned({"a": 1})
    finally:
        found = watching.stop()
    (row,) = found
    assert (row.function, row.calls, list(row.values.values())) == ("load", 2, [2])
    assert sys.getprofile() is None


def test_a_profiler_of_the_scripts_is_left_alone() -> None:
    from tfperfkit.errors import Unavailable

    def own(*_: Any) -> None:
        return None

    sys.setprofile(own)
    try:
        with pytest.raises(Unavailable):
            Returns([load.__code__]).start()
        assert sys.getprofile() is own
    finally:
        sys.setprofile(None)
