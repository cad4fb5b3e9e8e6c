"""The rules about tf.data pipelines on made-up evidence: each fires on a planted fault, silent on its healthy twin."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE, make_account, make_evidence, make_steps
from input_builder import BATCH, PREFETCH, codes, evidence, mapped, one, pipeline, ranged, stage
from tfperfkit_probes.input.model import KerasInput, Pipeline, Stage
from tfperfkit_rules.input import python_batches, sequential_stages, stage_order, waiting
from tfperfkit_rules.measures import epochs
from tfprof_builder import brief, graphs

from tfperfkit.model import Outlier, SourceSpan, StepAccount
from tfperfkit.records.steps import Marker, Site

SLOW = pipeline(PREFETCH, BATCH, mapped(stateful_or_random=True), bound_by=2, bound_ms_per_output=9.5)


def test_a_sequential_map_is_named_with_at_most_the_processors_gain() -> None:
    finding = one(sequential_stages.sequential(evidence(SLOW)))
    assert (finding.code, finding.where[0].line) == ("INP003", 7)
    low, high = ranged(finding)
    assert 1 <= low < high <= 2 and "INP001" in finding.absorbs
    assert "num_parallel_calls" in finding.advice


def test_maps_that_run_as_one_are_named_together() -> None:
    """TensorFlow's model knows the upper map alone, which may be a function that does nothing."""
    upper = mapped(elements=32.0, stateful_or_random=True, mapped=SourceSpan(FILE, 23, "augment"))
    lower = mapped(own_ms=None, mapped=SourceSpan(FILE, 17, "read_image"))
    source = stage("TensorSlice", 4, self_ms_per_output=0.03, elements=32.0)
    made = pipeline(PREFETCH, BATCH, upper, lower, source, bound_by=2, bound_ms_per_output=9.5)
    finding = one(sequential_stages.sequential(evidence(made)))
    assert finding.title == "map(read_image) and map(augment) (fused) prepare one element at a time"
    assert {"augment", "read_image"} <= {place.function for place in finding.where}
    assert ".map(read_image, num_parallel_calls=tf.data.AUTOTUNE) and .map(augment, " in finding.advice
    seen = msgspec.structs.replace(made, stages=(PREFETCH, BATCH, upper, mapped(own_ms=0.1, elements=32.0), source))
    assert one(sequential_stages.sequential(evidence(seen))).title.startswith("map(augment) prepares")


def test_one_processor_gains_nothing_by_parallel_calls() -> None:
    assert not list(sequential_stages.sequential(evidence(SLOW, machine={"cpus": 1})))


def test_a_parallel_map_is_not_reported_to_be_parallel() -> None:
    parallel = pipeline(
        PREFETCH, mapped("ParallelMap", parallelism=2.0, stateful_or_random=True), bound_by=1, bound_ms_per_output=9.5
    )
    assert codes(evidence(parallel)) == {"INP001"}


def test_a_pipeline_that_is_ready_in_time_is_left_in_peace() -> None:
    assert not codes(evidence(SLOW, parts_ms={"input": 0.07, "graph": 9.93}))
    idle = pipeline(PREFETCH, mapped(own_ms=2.0), bound_by=1, bound_ms_per_output=2.0)
    assert not codes(evidence(idle))


def test_where_the_model_lost_its_times_the_trace_tells() -> None:
    slow = mapped(own_ms=0.2, trace_self_ms_per_step=7.0, stateful_or_random=True)
    records = stage("TFRecord", 4, self_ms_per_output=0.5, trace_self_ms_per_step=1.0)
    made = pipeline(PREFETCH, BATCH, slow, records, bound_by=3, bound_ms_per_output=0.7)
    assert one(sequential_stages.sequential(evidence(made))).where[0].line == 7
    seldom = evidence(made, parts_ms={"input": 1.0, "graph": 9.0})
    assert not codes(seldom)


def test_where_each_call_is_an_epoch_the_model_has_just_forgotten_it() -> None:
    """The readings fall on the ends of epochs: everything below the repeat is new."""
    repeat = stage("Repeat", 8, parameters={"count": -1}, self_ms_per_output=0.1, elements=1.0)
    slow = mapped(own_ms=0.2, trace_self_ms_per_step=7.0, stateful_or_random=True, elements=0.0)
    ahead = stage("Prefetch", 9, self_ms_per_output=0.4, elements=1.0)
    made = pipeline(ahead, repeat, BATCH, slow, bound_by=0, bound_ms_per_output=0.4)
    assert one(sequential_stages.sequential(evidence(made))).where[0].line == 7
    counted = msgspec.structs.replace(slow, elements=32.0)
    kept = msgspec.structs.replace(made, stages=(ahead, repeat, BATCH, counted))
    assert not codes(evidence(kept))


def test_a_generator_sets_the_pace() -> None:
    generator = stage(
        "Generator", 11, is_python=True, nested=1, self_ms_per_output=9.0, mapped=SourceSpan(FILE, 3, "rows")
    )
    made = pipeline(
        PREFETCH, stage("FlatMap", 11, self_ms_per_output=0.1), generator, bound_by=2, bound_ms_per_output=9.1
    )
    finding = one(python_batches.python_input(evidence(made)))
    assert finding.code == "INP005" and [place.line for place in finding.where] == [11, 3]
    assert "rows" in finding.advice and ranged(finding)[1] == pytest.approx(10 / 4, rel=0.05)
    assert "INP001" in finding.absorbs


def test_a_pydataset_is_named_by_its_method() -> None:
    generator = stage("Generator", 33, by="keras", is_python=True, self_ms_per_output=9.0)
    made = pipeline(PREFETCH, generator, bound_by=1, bound_ms_per_output=9.0)
    row = KerasInput(
        kind="PyDataset",
        way="fit",
        validation=False,
        file=FILE,
        line=33,
        function="",
        cls="Noise",
        place=SourceSpan(FILE, 15, "Noise.__getitem__"),
        workers=1,
        use_multiprocessing=False,
        pipeline=0,
    )
    finding = one(python_batches.python_input(evidence(made, inputs={"keras": (row,)})))
    assert finding.where[0].line == 15 and "Noise.__getitem__" in finding.advice
    assert "use_multiprocessing=True" in finding.advice and "Only one thread" in finding.detail
    apart = msgspec.structs.replace(row, workers=2, use_multiprocessing=True)
    finding = one(python_batches.python_input(evidence(made, inputs={"keras": (apart,)})))
    assert "use_multiprocessing" not in finding.advice and "Only one thread" not in finding.detail


def test_a_dataset_that_a_strategy_distributes_is_no_generator_of_the_persons() -> None:
    """TensorFlow puts a generator before each device, which takes batches out of the dataset."""
    taken = stage("Generator", 0, by="tensorflow", added=True, self_ms_per_output=9.0)
    made = pipeline(PREFETCH, taken, stage("ReincarnatedPerDeviceGenerator", 33), bound_by=1, bound_ms_per_output=9.0)
    finding = one(waiting.waits(evidence(made)))
    assert "given to the strategy" in finding.advice and "from_generator" not in finding.title + finding.advice
    assert any(item.name == "time of the distributed dataset per batch" for item in finding.evidence)


def test_a_pydataset_that_was_not_seen_is_named_by_its_only_method() -> None:
    source = "class Noise(PyDataset):\n    def __getitem__(self, index):\n        return 1\n"
    made = pipeline(
        PREFETCH,
        stage("Generator", 33, by="keras", is_python=True, self_ms_per_output=9.0),
        bound_by=1,
        bound_ms_per_output=9.0,
    )
    finding = one(python_batches.python_input(evidence(made, source=source)))
    assert [place.line for place in finding.where] == [2, 33]


def test_a_prefetch_that_waits_for_a_processor_is_no_slow_pipeline() -> None:
    made = pipeline(stage("Prefetch", 9, self_ms_per_output=8.0), BATCH, bound_by=0, bound_ms_per_output=8.0)
    assert not codes(evidence(made))


def test_a_py_function_is_named_at_its_call() -> None:
    source = "import tensorflow as tf\ndef load(x):\n    y = tf.numpy_function(jitter, [x], tf.float32)\n    return y\n"
    made = pipeline(PREFETCH, mapped("ParallelMap", is_python=True), bound_by=1, bound_ms_per_output=9.0)
    finding = one(python_batches.python_input(evidence(made, source=source)))
    assert finding.where[0].line == 3


BESIDE = pipeline(PREFETCH, mapped("ParallelMap", own_ms=9.0, is_python=True), bound_by=1, bound_ms_per_output=9.0)


def test_python_that_takes_the_lock_from_the_step_is_named_though_nothing_waits_for_input() -> None:
    found = evidence(BESIDE, parts_ms={"input": 0.1, "dispatch": 5.0, "graph": 4.9})
    finding = one(python_batches.python_beside(found))
    assert finding.code == "INP005" and finding.where and {"BAT001", "OPS004"} <= set(finding.absorbs)
    low, high = ranged(finding)
    assert 1 == low < high < 4  # of 10 ms, 4 at most wait for the lock; at best a processor is free as well
    assert codes(found) == {"INP005"}


def test_a_step_that_waits_for_another_stage_is_not_reported_that_it_hardly_waits() -> None:
    other = mapped("ParallelMap", own_ms=8.0, is_python=True, parallelism=4.0)
    made = pipeline(PREFETCH, mapped(stateful_or_random=True), other, bound_by=1, bound_ms_per_output=9.0)
    assert "INP005" not in codes(evidence(made, parts_ms={"input": 4.0, "dispatch": 3.5, "graph": 2.5}))


def test_python_in_other_processes_or_not_beside_the_step_takes_no_lock() -> None:
    parts = {"input": 0.05, "dispatch": 5.0, "graph": 4.95}
    generator = stage("Generator", 33, by="keras", is_python=True, self_ms_per_output=9.0)
    made = pipeline(PREFETCH, generator, bound_by=1, bound_ms_per_output=9.0)
    row = KerasInput(
        kind="PyDataset",
        way="fit",
        validation=False,
        file=FILE,
        line=33,
        function="",
        cls="Noise",
        place=SourceSpan(FILE, 15, "Noise.__getitem__"),
        workers=4,
        use_multiprocessing=True,
        pipeline=0,
    )
    assert list(python_batches.python_beside(evidence(made, parts_ms=parts)))
    assert not list(python_batches.python_beside(evidence(made, parts_ms=parts, inputs={"keras": (row,)})))
    lone = stage("Generator", 11, is_python=True, self_ms_per_output=6.0)
    alone = pipeline(lone, bound_by=0, bound_ms_per_output=6.0)
    finding = one(python_batches.python_input(evidence(alone, parts_ms={"input": 6.0, "dispatch": 3.5, "graph": 0.5})))
    assert ranged(finding)[1] <= 2.6 and "BAT001" not in finding.absorbs  # at best all of the wait goes


def test_what_waits_for_the_lock_counts_where_the_step_waits_for_batches_too() -> None:
    alone = evidence(BESIDE, parts_ms={"input": 1.0, "graph": 9.0})
    both = evidence(BESIDE, parts_ms={"input": 1.0, "dispatch": 5.0, "graph": 4.0})
    assert not list(python_batches.python_beside(both))
    before, after = (ranged(one(python_batches.python_input(item))) for item in (alone, both))
    assert after[0] >= before[0] and after[1] > before[1]


@pytest.mark.parametrize(
    "parts",
    [
        {"dispatch": 1.0, "graph": 9.0},  # its calls take no longer than they do elsewhere
        {"dispatch": 5.0, "eager_ops": 4.0, "graph": 1.0},  # nothing is compiled: Python is long by itself
    ],
)
def test_python_beside_the_step_is_left_in_peace_where_nothing_tells_that_it_disturbs(parts: dict[str, float]) -> None:
    assert not list(python_batches.python_beside(evidence(BESIDE, parts_ms=parts)))


def test_python_that_works_seldom_does_not_disturb() -> None:
    seldom = pipeline(PREFETCH, mapped("ParallelMap", own_ms=2.0, is_python=True), bound_by=1, bound_ms_per_output=2.0)
    assert not list(python_batches.python_beside(evidence(seldom, parts_ms={"dispatch": 5.0, "graph": 5.0})))


def tiny(**fields: Any) -> Pipeline:
    rows = stage("TensorSlice", 6, bytes_per_element=84)
    cheap = mapped("ParallelMap", **{"own_ms": 8.0, "ops": 11, "bytes_per_element": 164, **fields})
    batch = stage("Batch", 8, parameters={"batch_size": 256}, fused=True)
    return pipeline(PREFETCH, batch, cheap, rows, bound_by=2, bound_ms_per_output=8.0, iterators=4)


def test_a_cheap_function_per_example_is_to_be_mapped_over_batches() -> None:
    given = evidence(tiny())
    finding = one(sequential_stages.per_example(given))
    assert finding.code == "INP007" and ".batch(256).map(load" in finding.advice and finding.where[0].line == 7
    assert not list(stage_order.repeated(given))  # a cache would keep single examples: the lesser remedy


@pytest.mark.parametrize(
    "fields",
    [
        {"ops": 2, "own_ms": 20.0},
        {"stateful_or_random": True},
        {"bytes_per_element": None},
        {"bytes_per_element": 500_000},
        {"is_python": True},
    ],
)
def test_work_that_is_not_a_call_s_cost_stays_per_example(fields: dict[str, Any]) -> None:
    assert not list(sequential_stages.per_example(evidence(tiny(**fields))))


def decoded(*before: Stage, **fields: Any) -> Pipeline:
    files = stage("TensorSlice", 3)
    shuffle = stage("Shuffle", 6, stateful_or_random=True, parameters={"buffer_size": 240}, buffered_mean=200.0)
    given = {"iterators": 12, "bound_by": 3, "bound_ms_per_output": 9.5, **fields}
    return pipeline(PREFETCH, BATCH, shuffle, mapped("ParallelMap"), *before, files, **given)


def test_what_each_epoch_repeats_is_to_be_cached() -> None:
    finding = one(stage_order.repeated(evidence(decoded())))
    assert finding.code == "INP006" and finding.where[0].line == 7 and ".cache()" in finding.advice
    # The map's 9 ms kept two processors busy for 0.45 of 10 ms: at best the other 4 ms shrink by that.
    assert ranged(finding)[1] == pytest.approx(10 / (4 / 1.45))
    assert any(row.unit == "bytes" for row in finding.evidence)


def test_a_cache_has_to_stand_before_shuffle_and_repeat() -> None:
    shuffled = stage("Shuffle", 4, stateful_or_random=True, parameters={"buffer_size": 40})
    finding = one(stage_order.repeated(evidence(decoded(stage("Repeat", 5, parameters={"count": -1}), shuffled))))
    assert "before shuffle and repeat: after a repeat" in finding.advice
    finding = one(stage_order.repeated(evidence(decoded(shuffled))))
    assert "before shuffle: after a shuffle it keeps one order" in finding.advice


def test_each_call_of_a_function_that_loops_over_the_data_is_an_epoch() -> None:
    made = decoded(iterators=0, in_graph="epoch")
    call = Site(id=1, kind="loop_call", target=1, name="epoch", file=FILE, line=30)
    functions = graphs(brief(function="epoch", callers=[SourceSpan(FILE, 30)]))
    for calls, found in ((1, 0), (2, 1)):
        markers = [Marker(1, n * 1000, n * 1000 + 900, 30) for n in range(calls)]
        given = evidence(made, data={"ops": functions}, records={"sites": [call], "markers": markers})
        assert len(list(stage_order.repeated(given))) == found
    again = msgspec.structs.replace(made, datasets_made=2)  # other data in each call, it may be
    assert not list(stage_order.repeated(evidence(again, data={"ops": functions}, records={"sites": [call]})))


def test_a_cache_before_the_costly_map_is_in_the_wrong_place() -> None:
    finding = one(stage_order.repeated(evidence(decoded(stage("Cache", 4)))))
    assert finding.code == "INP008" and finding.where[0].line == 4
    assert finding.advice.startswith("Move cache() after")
    shuffled = stage("Shuffle", 4, stateful_or_random=True)
    finding = one(stage_order.repeated(evidence(decoded(shuffled, stage("Cache", 4)))))
    assert "before shuffle: after a shuffle it keeps one order. Remove the earlier cache()." in finding.advice


def windowed(*, inner: Stage | None = None, shuffle_ms: float = 8.0, **fields: Any) -> Pipeline:
    """Each record is parsed into rows of an unknown number, which a flat_map cuts into windows."""
    given = {"buffer_size": 1000}
    shuffle = stage(
        "Shuffle", 8, self_ms_per_output=shuffle_ms, elements=32.0, stateful_or_random=True, parameters=given
    )
    flat = stage("FlatMap", 7, mapped=SourceSpan(FILE, 4, "cut"), self_ms_per_output=0.5, bytes_per_element=2000)
    own = inner or stage("Batch", 5)
    parsing = msgspec.structs.replace(mapped("ParallelMap", own_ms=9.0, bytes_per_element=None, ops=300), line=6)
    stages = (PREFETCH, BATCH, shuffle, flat, msgspec.structs.replace(own, nested=3), parsing, stage("TensorSlice", 3))
    return pipeline(*stages, **{"iterators": 12, "bound_by": 2, "bound_ms_per_output": 9.5, **fields})


def test_a_cache_after_the_flat_map_keeps_what_a_map_before_it_makes() -> None:
    """The size of what the map makes is open; that of the windows is known. A shuffle's time is that of its buffer."""
    finding = one(stage_order.repeated(evidence(windowed())))
    assert finding.code == "INP006" and [place.line for place in finding.where[:2]] == [7, 6]
    assert finding.title == "map(load) repeats the same work in every epoch"
    assert ".flat_map(cut).cache(), before shuffle" in finding.advice


@pytest.mark.parametrize(
    "made",
    [
        windowed(inner=stage("Shuffle", 5, stateful_or_random=True)),  # other windows in each epoch
        windowed(shuffle_ms=0.05),  # the shuffle draws
        windowed(iterators=1),
    ],
)
def test_windows_that_differ_or_are_made_once_are_not_to_be_cached(made: Pipeline) -> None:
    assert not list(stage_order.repeated(evidence(made)))


def test_a_map_before_a_flat_map_can_not_be_mapped_over_batches() -> None:
    rows = stage("TensorSlice", 6, bytes_per_element=84)
    cheap = mapped("ParallelMap", own_ms=8.0, ops=11, bytes_per_element=164)
    batch = stage("Batch", 8, parameters={"batch_size": 256}, fused=True)
    several = stage("FlatMap", 7, mapped=SourceSpan(FILE, 4, "cut"), bytes_per_element=84)
    bound = {"bound_ms_per_output": 8.0, "iterators": 4}
    assert list(sequential_stages.per_example(evidence(pipeline(PREFETCH, batch, cheap, rows, bound_by=2, **bound))))
    given = evidence(pipeline(PREFETCH, batch, several, cheap, rows, bound_by=3, **bound))
    assert not list(sequential_stages.per_example(given))


def test_no_cache_for_one_epoch_random_maps_or_too_much_data() -> None:
    assert not list(stage_order.repeated(evidence(decoded(iterators=1))))
    assert not list(stage_order.repeated(evidence(SLOW)))
    huge = pipeline(
        PREFETCH,
        BATCH,
        mapped("ParallelMap", bytes_per_element=400_000_000),
        bound_by=2,
        bound_ms_per_output=9.5,
        iterators=4,
    )
    assert not list(stage_order.repeated(evidence(huge)))


def test_a_cache_after_the_map_is_left_in_peace() -> None:
    cached = pipeline(
        PREFETCH,
        BATCH,
        stage("Cache", 8, self_ms_per_output=9.0),
        mapped(),
        bound_by=2,
        bound_ms_per_output=9.0,
        iterators=4,
    )
    assert not list(stage_order.repeated(evidence(cached)))


def epochs_account(cause: str = "a compiled function") -> StepAccount:
    """60 steps in epochs of 15: the first step of each takes 150 ms more."""
    late = tuple(Outlier(step=n, ms=155.0, excess_ms=150.0, cause=cause) for n in (16, 31, 46))
    jitter = (Outlier(step=20, ms=8.0, excess_ms=3.0),)
    return make_account({"graph": 12.9}, steps=57, outliers=(*late, *jitter))


def test_buffers_that_fill_as_epochs_begin_are_waiting_too() -> None:
    unmeasured = decoded(bound_by=None, bound_ms_per_output=None)
    unmeasured = pipeline(
        *(item if item.kind != "ParallelMap" else mapped("ParallelMap", own_ms=None) for item in unmeasured.stages),
        iterators=4,
    )
    given = evidence(unmeasured, account=epochs_account(), steps=make_steps())
    found = epochs.epochs(given)
    assert found is not None and found.length == 15 and found.unseen_ms == pytest.approx(450 / 57)
    finding = one(stage_order.repeated(given))
    assert finding.code == "INP006" and finding.share_of_step == pytest.approx(450 / 57 / 12.9)
    shown = {item.name: item.value for item in finding.evidence}  # the bar above has these ms as graph
    assert shown["time waiting inside compiled functions (counted as graph)"] == pytest.approx(450 / 57)


def test_a_second_network_at_every_fifth_step_is_no_epoch_where_fetches_are_seen() -> None:
    table = make_steps()
    fetched = [msgspec.structs.replace(step, input_ns=100_000) for step in table.steps]
    table = msgspec.structs.replace(table, steps=tuple(fetched))
    assert epochs.epochs(evidence(SLOW, account=epochs_account(), steps=table)) is None
    assert epochs.epochs(evidence(SLOW, account=epochs_account("input"), steps=table)) is not None


def test_late_steps_anywhere_are_no_epochs() -> None:
    late = tuple(Outlier(step=n, ms=155.0, excess_ms=150.0, cause="") for n in (14, 23, 39, 40))
    account = make_account({"graph": 12.9}, steps=57, outliers=late)
    assert epochs.epochs(evidence(SLOW, account=account, steps=make_steps())) is None


def test_no_prefetch_where_none_is_running() -> None:
    bare = pipeline(BATCH, mapped(stateful_or_random=True), bound_by=1, bound_ms_per_output=6.0)
    finding = one(waiting.no_prefetch(evidence(bare)))
    assert finding.code == "INP004" and finding.where[0].line == 8
    assert ranged(finding) == pytest.approx((10 / (4 + 0.8 * 6), 10 / 6))
    injected = pipeline(stage("Prefetch", 0, file="", added=True), *bare.stages, bound_by=2, bound_ms_per_output=6.0)
    assert not list(waiting.no_prefetch(evidence(injected)))


def test_a_wait_that_nothing_explains_names_the_stage() -> None:
    finding = one(waiting.waits(evidence(SLOW)))
    assert finding.code == "INP001" and "slowest in map(load)" in finding.title
    assert ranged(finding) == pytest.approx((1.0, 10 / 4))


def test_a_tiny_step_that_waits_for_a_plain_shuffle_is_a_remark() -> None:
    shuffle = stage("Shuffle", 6, self_ms_per_output=0.9)
    made = pipeline(PREFETCH, BATCH, shuffle, bound_by=2, bound_ms_per_output=1.0)
    tiny_step = evidence(made, parts_ms={"input": 0.6, "graph": 0.5})
    assert one(waiting.waits(tiny_step)).severity == "info"
    assert one(waiting.waits(evidence(SLOW))).severity == "low"


def test_keras_own_map_over_arrays_is_no_function_to_make_faster() -> None:
    own = SourceSpan("/site-packages/keras/array_data_adapter.py", 202, "grab_batch")
    arrays = pipeline(
        PREFETCH, mapped("ParallelMap", 0.2, parallelism=2.0, mapped=own), bound_by=1, bound_ms_per_output=0.9
    )
    finding = one(waiting.waits(evidence(arrays, parts_ms={"input": 0.6, "graph": 0.4})))
    assert finding.severity == "info" and "grab_batch" not in finding.title + finding.advice
    assert "batch_size" in finding.advice
    late = tuple(Outlier(step=n, ms=4.0, excess_ms=3.0, cause="") for n in (16, 31, 46))
    filling = evidence(arrays, account=make_account({"graph": 1.0}, outliers=late), steps=make_steps())
    assert one(waiting.waits(filling)).severity == "info"


def test_a_wait_without_a_known_pipeline_is_reported_all_the_same() -> None:
    sites = [{"id": 1, "kind": "next", "target": 1, "file": FILE, "line": 12}]
    finding = one(waiting.waits(evidence(records={"sites": sites})))
    assert finding.code == "INP001" and finding.where[0].line == 12


def test_without_records_every_rule_is_silent() -> None:
    assert not codes(make_evidence(parts_ms={"graph": 10.0}))
    assert not codes(make_evidence())
