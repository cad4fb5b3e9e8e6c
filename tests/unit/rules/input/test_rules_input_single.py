"""Work on single examples that a batch could share (INP007: records, windows), or that is dropped again (INP008)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE
from input_builder import PREFETCH, evidence, mapped, one, pipeline, ranged, stage
from tfperfkit_probes.input.model import Pipeline
from tfperfkit_rules.input import late_filter, late_skip, sequential_stages, stage_order, windows

from tfperfkit.model import RunAccount, SourceSpan

BATCH = stage("Batch", 8, parameters={"batch_size": 256}, fused=True)
PARSING = """\
import tensorflow as tf
def load(record):
    found = tf.io.parse_single_example(record, columns)
    return found["x"], found["y"]
"""


def records(**fields: Any) -> Pipeline:
    source = stage("TFRecord", 4, element="string[]")
    parsing = mapped("ParallelMap", own_ms=8.0, ops=30, bytes_per_element=48, **fields)
    return pipeline(PREFETCH, BATCH, parsing, source, bound_by=2, bound_ms_per_output=8.1, iterators=5)


def test_records_are_to_be_parsed_in_batches() -> None:
    given = evidence(records(), source=PARSING)
    found = one(sequential_stages.per_example(given))
    assert found.code == "INP007" and ".batch(256).map(load" in found.advice
    assert "tf.io.parse_example instead of tf.io.parse_single_example" in found.advice
    assert not list(stage_order.repeated(given))


def test_what_decodes_a_picture_too_stays_with_single_records() -> None:
    source = PARSING.replace('found["x"],', 'tf.io.decode_jpeg(found["x"]),')
    assert not list(sequential_stages.per_example(evidence(records(), source=source)))


def test_strings_that_nothing_parses_are_not_records() -> None:
    source = "import tensorflow as tf\ndef load(record):\n    return tf.strings.length(record)\n"
    assert not list(sequential_stages.per_example(evidence(records(), source=source)))


def test_many_features_are_parsed_faster_in_a_batch_too_and_a_large_record_is_work() -> None:
    many = pipeline(*records().stages[:2], mapped("ParallelMap", own_ms=60.0, ops=130), records().stages[3])
    small = [msgspec.structs.replace(item, bytes_per_element=None) for item in many.stages]
    assert one(sequential_stages.per_example(evidence(pipeline(*small, bound_by=2), source=PARSING))).code == "INP007"
    assert not list(sequential_stages.per_example(evidence(many, source=PARSING)))  # 50 kB each


def test_the_fields_of_lines_are_split_in_batches() -> None:
    source = "import tensorflow as tf\ndef load(line):\n    return tf.strings.split(line, ';')\n"
    found = one(sequential_stages.per_example(evidence(records(), source=source)))
    assert "256 records at a time; its result is ragged then: .to_tensor()." in found.advice


def test_what_a_trace_does_not_time_sets_the_pace_where_the_others_take_little() -> None:
    """Loop without training: nobody reads the model's times."""
    parsing = mapped("ParallelMap", own_ms=None, ops=30, bytes_per_element=48)
    quick = stage("TFRecord", 4, element="string[]", self_ms_per_output=1.0)
    given = evidence(pipeline(PREFETCH, BATCH, parsing, quick, measured="trace", outputs_per_step=1.0), source=PARSING)
    found = one(sequential_stages.per_example(given))
    figures = {item.name: item.value for item in found.evidence}
    assert found.where[0].line == 7 and figures["time per example, at most"] == pytest.approx(10 * given.cpus / 256)
    slow = msgspec.structs.replace(quick, self_ms_per_output=5.0)
    for others in ((parsing, slow), (parsing, parsing, quick)):
        unsure = pipeline(PREFETCH, BATCH, *others, measured="trace", outputs_per_step=1.0)
        assert not list(sequential_stages.per_example(evidence(unsure, source=PARSING)))


def test_a_function_that_does_more_than_its_call_costs_is_work() -> None:
    slow = pipeline(*records().stages[:2], mapped("ParallelMap", own_ms=30.0, ops=30, bytes_per_element=48))
    assert not list(sequential_stages.per_example(evidence(slow, source=PARSING)))


def windowed(*, inner_bytes: int | None = 100, own_ms: float = 8.0, **fields: Any) -> Pipeline:
    return pipeline(
        PREFETCH,
        BATCH,
        stage("Map", 8, self_ms_per_output=own_ms, ops=8, **fields),
        stage("FlatMap", 7, self_ms_per_output=0.5),
        stage("Batch", 7, nested=3, bytes_per_element=inner_bytes, parameters={"batch_size": 25}),
        stage("Window", 6, self_ms_per_output=0.2, parameters={"size": 25}),
        stage("TensorSlice", 5, self_ms_per_output=0.1, bytes_per_element=4),
        bound_by=2,
        bound_ms_per_output=8.8,
    )


def test_windows_are_to_be_cut_a_batch_at_a_time() -> None:
    found = one(windows.windows_one_by_one(evidence(windowed())))
    assert found.code == "INP007" and found.where[0].line == 7 and found.severity != "info"
    assert ".range(len(series) - size + 1).batch(256)" in found.advice and "with size 25" in found.advice
    shuffled = msgspec.structs.replace(
        windowed(), stages=(PREFETCH, BATCH, stage("Shuffle", 8), *windowed().stages[3:])
    )
    assert "+ 1).shuffle(n).batch(256)" in one(windows.windows_one_by_one(evidence(shuffled))).advice
    low, high = ranged(found)
    assert 1 < low < high
    figures = {item.name: item.value for item in found.evidence}
    assert figures["time per window"] == pytest.approx(8.8 / 256)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"size": 25, "shift": 5, "stride": 1}, ".range(0, len(series) - size + 1, 5).batch"),
        ({"size": 25, "shift": 1, "stride": 2}, ".range(len(series) - 2 * (size - 1)).batch"),
        ({"size": 25, "shift": 1, "stride": 2}, "start[:, None] + 2 * tf.range("),
        ({"size": 25, "shift": 25, "stride": 1, "drop_remainder": True}, "flat_map by .batch(25, drop_remainder=True)"),
        ({"size": 50, "shift": 25, "stride": 1}, "starts = tf.data.Dataset.range(0, "),
    ],
)
def test_the_advice_makes_windows_at_the_same_rows(parameters: dict[str, Any], told: str) -> None:
    stages = [
        msgspec.structs.replace(item, parameters=parameters) if item.kind == "Window" else item
        for item in windowed().stages
    ]
    given = msgspec.structs.replace(windowed(), stages=tuple(stages))
    assert told in one(windows.windows_one_by_one(evidence(given))).advice


@pytest.mark.parametrize(
    ("source", "waited", "told"), [("TensorSlice", 6.0, 1), ("TensorSlice", 2.0, 0), ("TextLine", 6.0, 0)]
)
def test_a_long_wait_for_windows_in_memory_counts_more_than_their_own_times(
    source: str, waited: float, told: int
) -> None:
    quick = msgspec.structs.replace(windowed(own_ms=1.0), bound_ms_per_output=1.8)
    stages = (*quick.stages[:-1], msgspec.structs.replace(quick.stages[-1], kind=source))
    given = evidence(msgspec.structs.replace(quick, stages=stages), parts_ms={"input": waited, "graph": 10.0 - waited})
    assert len(list(windows.windows_one_by_one(given))) == told


@pytest.mark.parametrize("kind", ["FlatMap", "Interleave", "ParallelInterleave"])
@pytest.mark.parametrize(("beside", "told"), [("Zip", 1), ("Map", 1), ("Window", 1), ("Shuffle", 0)])
def test_windows_of_two_series_may_be_zipped_and_interleaved(kind: str, beside: str, told: int) -> None:
    flat, batch, *below = windowed().stages[3:]
    unpacked = (msgspec.structs.replace(flat, kind=kind), batch, msgspec.structs.replace(batch, kind=beside))
    given = msgspec.structs.replace(windowed(), stages=(*windowed().stages[:3], *unpacked, *below))
    assert len(list(windows.windows_one_by_one(evidence(given)))) == told


@pytest.mark.parametrize(
    "fields", [{"inner_bytes": 500_000}, {"inner_bytes": None}, {"own_ms": 400.0}, {"is_python": True}]
)
def test_large_windows_and_work_in_them_are_left_in_peace(fields: dict[str, Any]) -> None:
    assert not list(windows.windows_one_by_one(evidence(windowed(**fields))))


def collected(*inner: str, **fields: Any) -> Pipeline:
    """Return a map that takes the only element of each window of two series."""
    batches = [stage(kind, 7, nested=2, bytes_per_element=100, parameters={"batch_size": 25}) for kind in inner]
    given = {"mapped": SourceSpan(FILE, 3, "collect"), "self_ms_per_output": 8.0, "ops": 20, **fields}
    return pipeline(
        PREFETCH,
        BATCH,
        stage("Map", 7, **given),
        *batches,
        stage("Window", 6, self_ms_per_output=0.5),
        stage("TensorSlice", 5, self_ms_per_output=0.1, bytes_per_element=4),
        bound_by=2,
        bound_ms_per_output=8.6,
    )


def test_a_map_that_collects_windows_is_the_same() -> None:
    found = one(windows.windows_one_by_one(evidence(collected("Batch", "Batch"))))
    assert found.title == "window().map(collect) handles one small window at a time"
    assert (found.code, found.where[0].line) == ("INP007", 7) and "with size 25" in found.advice
    assert "INP003" in found.absorbs


@pytest.mark.parametrize("made", [collected(), collected("Batch", "Shuffle"), collected("Batch", is_python=True)])
def test_a_map_that_does_something_else_with_windows_is_left_in_peace(made: Pipeline) -> None:
    assert not list(windows.windows_one_by_one(evidence(made)))


def untimed(source: str) -> Pipeline:
    """As of a loop that ended before TensorFlow had timed a stage."""
    flat = stage("FlatMap", 7, mapped=SourceSpan(FILE, 7, "<lambda>"), ops=4)
    inner = stage("Batch", 7, nested=2, bytes_per_element=100, parameters={"batch_size": 25})
    window = stage("Window", 6, parameters={"size": 25})
    return pipeline(PREFETCH, BATCH, flat, inner, window, stage(source, 5), measured="")


def test_windows_that_nobody_timed_are_all_that_the_loop_waits_for() -> None:
    found = one(windows.windows_one_by_one(evidence(untimed("TensorSlice"))))
    low, high = ranged(found)
    assert 1.1 < low < high
    assert "time per window" not in {item.name for item in found.evidence}


def test_of_untimed_windows_over_a_file_reading_may_be_the_wait() -> None:
    assert not list(windows.windows_one_by_one(evidence(untimed("TextLine"))))


def test_a_flat_map_over_files_makes_no_windows() -> None:
    files = pipeline(PREFETCH, BATCH, stage("FlatMap", 7, self_ms_per_output=8.0), bound_by=2, bound_ms_per_output=8.0)
    assert not list(windows.windows_one_by_one(evidence(files)))


SELECTING = """\
import tensorflow as tf
def load(data, label):
    image = tf.io.decode_jpeg(data)
    return image, label

wanted = (lambda image, label: label < 3)
"""


def filtered(kept: float = 32.0, made: float = 96.0) -> Pipeline:
    wanted = stage("Filter", 6, mapped=SourceSpan(FILE, 6, "<lambda>"), elements=kept, self_ms_per_output=0.1)
    loading = mapped("ParallelMap", elements=made, stateful_or_random=True)
    return pipeline(
        PREFETCH, BATCH, wanted, loading, stage("TensorSlice", 3), bound_by=3, bound_ms_per_output=9.5, iterators=4
    )


def test_a_filter_on_what_the_map_passes_on_goes_before_it() -> None:
    found = one(late_filter.filtered_late(evidence(filtered(), source=SELECTING)))
    assert found.code == "INP008" and found.where[0].line == 6
    assert found.title == "tf.data in wrong order: filter() after map(load) drops 67 % of its results"
    assert ranged(found)[0] > 1


@pytest.mark.parametrize(
    "source",
    [
        SELECTING.replace("label < 3", "tf.reduce_mean(image) > 0"),
        SELECTING.replace("    return", "    label = label + 1\n    return").replace("\nwanted", "wanted"),
        SELECTING.replace("return image, label", "return label, image"),
        SELECTING.replace("return image, label", "return image, tf.size(image)"),
    ],
    ids=["asks for what was made", "is changed", "stands elsewhere", "is made"],
)
def test_a_filter_on_what_the_map_makes_stays(source: str) -> None:
    assert not list(late_filter.filtered_late(evidence(filtered(), source=source)))


def test_a_filter_that_drops_little_stays() -> None:
    assert not list(late_filter.filtered_late(evidence(filtered(kept=90.0), source=SELECTING)))


def skipping(*between: Any, count: int = 500, timed: bool = True, **fields: Any) -> Any:
    """Training on ``take``, validation on ``skip``, both after one map of 1 ms of wall-clock time; 20 epochs seen."""
    source = stage("TensorSlice", 3)
    made = mapped("ParallelMap", 64.0 if timed else None, by="user", elements=32.0, parallelism=2.0)
    untimed = mapped("ParallelMap", None, by="user")
    learn = pipeline(PREFETCH, stage("Batch", 8), stage("Take", 8), made, source, iterators=40)
    skip = stage("Skip", 9, by="user", parameters={"count": count})
    check = pipeline(
        PREFETCH, stage("Batch", 9), skip, *between, untimed, source, iterators=40, role="validation", way="evaluate"
    )
    run = RunAccount(total_s=60.0, parts_s={"training": 20.0, "validation": 15.0})
    return evidence(learn, check, **{"run_account": run, **fields})


def test_what_a_skip_throws_away_is_not_to_be_made() -> None:
    found = one(late_skip.skipped_late(skipping()))
    assert (found.code, found.basis, found.where[0].line) == ("INP008", "run", 9)
    assert found.share_of_step == pytest.approx(500 * 20 * 0.001 / 60)
    assert "skip(500) after map(load) discards its results" in found.title
    assert ".skip(500).map(load, num_parallel_calls" in found.advice
    assert ranged(found)[0] > 1 and ranged(found)[1] <= 1 / (1 - 15 / 60)


@pytest.mark.parametrize(
    "given",
    [
        skipping(count=50),
        skipping(timed=False),
        skipping(stage("Cache", 8)),
        skipping(stage("Batch", 8)),
        skipping(run_account=None),
    ],
    ids=["a few", "not timed", "kept", "batches", "no account"],
)
def test_a_skip_that_costs_little_or_nobody_timed_is_left_in_peace(given: Any) -> None:
    assert not list(late_skip.skipped_late(given))
