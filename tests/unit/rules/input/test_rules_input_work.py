"""The rules of family input in loops that train nothing, on made-up evidence."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import traced
from evidence_builder import FILE, MS, make_account, make_samples, make_steps
from input_builder import BATCH, codes, evidence, mapped, one, pipeline, ranged, stage
from tfperfkit_probes.input.model import InputData
from tfperfkit_rules.input import reloading, sequential_stages, single_elements, waiting, windows
from tfperfkit_rules.measures.evaluated import evaluated_wait
from tfperfkit_rules.measures.feed import feed
from tfprof_builder import brief

from tfperfkit.model import SourceSpan, Work
from tfperfkit.offers import FunctionCosts
from tfperfkit.records.samples import Frame, SampleLog, Stack

SOURCE = "\n".join(
    [*(f"x{n} = {n}" for n in range(1, 30)), "for batch in data:", "    use(batch)", *(f"y{n} = 1" for n in range(9))]
)


def of_work(*pipelines: Any, kind: Any = "loop", line: int = 30, iterations: int | None = 60, **fields: Any) -> Any:
    given = evidence(*pipelines, **{"source": SOURCE, "inputs": {"loaders": ()}, **fields})
    given.work = Work(kind=kind, where=SourceSpan(FILE, line), seconds=3.0, share_of_run=0.5, iterations=iterations)
    return given


def unmeasured(**fields: Any) -> Any:
    """Return a pipeline of which only the description is known."""
    slow = mapped(own_ms=None, ops=400)
    plain = {"iterators_per_step": None, "outputs_per_step": None, "measured": "", "way": "", "line": 30}
    return pipeline(BATCH, slow, stage("Range"), **{**plain, **fields})


def test_a_sequential_map_is_found_by_the_pipelines_description() -> None:
    finding = one(sequential_stages.sequential(of_work(unmeasured())))
    assert finding.code == "INP003" and finding.where[0].line == 7
    low, high = ranged(finding)
    assert 1.0 < low < high < 2.6
    assert "INP001" in finding.absorbs


def test_two_functions_that_compute_can_not_be_told_apart() -> None:
    two = unmeasured()
    two = msgspec.structs.replace(two, stages=(two.stages[0], mapped(own_ms=None, ops=300), *two.stages[1:]))
    assert not list(sequential_stages.sequential(of_work(two)))
    assert one(waiting.waits(of_work(two))).code == "INP001"


def test_the_training_pipeline_is_none_of_the_works() -> None:
    training = pipeline(BATCH, mapped(), line=20)
    assert "INP003" not in codes(of_work(training, unmeasured(role="other", line=35)))
    assert "INP003" in codes(of_work(training, unmeasured(role="other", in_training=False)))


def test_a_call_takes_the_pipeline_of_its_line() -> None:
    assert "INP003" in codes(of_work(unmeasured(line=32), kind="call", line=32, iterations=None))
    assert "INP003" not in codes(of_work(pipeline(BATCH), unmeasured(line=33), kind="call", line=32, iterations=None))


def looped(**fields: Any) -> Any:
    """One that a compiled function loops over, as a trace saw it: its map was joined with the batch."""
    joined = msgspec.structs.replace(mapped(own_ms=None, ops=400), elements=1.0)
    return pipeline(
        BATCH,
        joined,
        stage("Range", self_ms_per_output=0.1),
        **{
            "in_graph": "score",
            "measured": "trace",
            "fetches_per_s": 20.0,
            "way": "",
            "line": 8,
            "outputs_per_step": None,
            **fields,
        },
    )


def test_a_work_takes_the_pipeline_that_a_compiled_function_was_traced_to_loop_over() -> None:
    training = pipeline(BATCH, mapped(), line=20, in_graph="epoch", fetches_per_s=None)
    other = looped(fetches_per_s=None, measured="", in_training=None)
    finding = one(sequential_stages.sequential(of_work(training, other, looped(in_training=None))))
    assert finding.code == "INP003" and finding.where[0].line == 7
    assert not list(sequential_stages.sequential(of_work(training, other, other)))  # which of two, nobody has seen


def test_a_pipeline_that_a_compiled_function_loops_over_and_that_keeps_up() -> None:
    """By its pace in the trace it gave 20 batches in a second of the work."""

    def taking(ms: float) -> Any:
        stages = (stage("Prefetch", 9), BATCH, mapped(own_ms=ms), stage("Range"))
        made = looped(in_training=None, bound_by=2, bound_ms_per_output=ms)
        return msgspec.structs.replace(made, stages=stages)

    account = make_account({"input": 200.0, "graph": 800.0})
    steps = make_steps(1, 1000.0, warm=0, source="work")
    assert not codes(of_work(taking(10.0), iterations=None, account=account, steps=steps))
    assert "INP003" in codes(of_work(taking(45.0), iterations=None, account=account, steps=steps))


def test_windows_that_a_compiled_call_goes_through_untimed_have_no_gain_but_the_most_that_it_could_be() -> None:
    inner = stage("Batch", 7, nested=2, bytes_per_element=100, parameters={"batch_size": 25})
    stages = (stage("Prefetch", 9), BATCH, stage("FlatMap", 7), inner, stage("Window", 6), stage("TensorSlice", 5))

    def going(graph_ms: float = 900.0, **fields: Any) -> list[Any]:
        made = msgspec.structs.replace(looped(in_training=None, measured="", fetches_per_s=None), stages=stages)
        account = make_account({"graph": graph_ms, "python": 1000.0 - graph_ms})
        steps = make_steps(1, 1000.0, warm=0, source="work")
        given = msgspec.structs.replace(made, **fields)
        return list(windows.windows_in_a_call(of_work(given, iterations=None, account=account, steps=steps)))

    (found,) = going()
    assert (found.code, found.gain.bounds, found.gain.low) == ("INP007", None, None)
    assert found.share_of_step == 0.0, "what they cost was not measured"
    assert found.gain.high == pytest.approx(10.0) and found.where[0].line == 7 and "with size 25" in found.advice
    assert not going(graph_ms=300.0), "the call does something else"
    assert not going(measured="trace"), "windows_one_by_one knows more"
    assert not going(stages=(*stages[:-1], stage("TextLine", 5))), "reading may be the wait"


@pytest.mark.parametrize(
    ("more", "heavy", "told"),
    [
        ("", 0, True),
        ("    x = tf.io.decode_jpeg(found['x'])\n", 0, False),  # pictures are work of their own
        ("", 2, False),  # the network may take the time
    ],
)
def test_records_that_a_compiled_call_goes_through_are_parsed_a_batch_at_a_time(
    more: str, heavy: int, told: bool
) -> None:
    source = "import tensorflow as tf\ndef load(record):\n    found = tf.io.parse_single_example(record, columns)\n"
    parsing = mapped("ParallelMap", own_ms=None, ops=30, bytes_per_element=48)
    stages = (stage("Prefetch", 9), BATCH, parsing, stage("TFRecord", 4, element="string[]"))
    made = msgspec.structs.replace(looped(in_training=None, measured="", fetches_per_s=None), stages=stages)
    steps = make_steps(1, 1000.0, warm=0, source="work")
    given = {"iterations": None, "account": make_account({"graph": 900.0, "python": 100.0}), "steps": steps}
    given |= {"offers": {"ops": [FunctionCosts(functions=(brief(function="score", heavy=heavy),))]}}
    work = of_work(made, source=source + more + "    return found\n", **given)
    found = list(sequential_stages.parsed_in_a_call(work))
    assert [(item.code, item.where[0].line, item.gain.low) for item in found] == ([("INP007", 7, None)] if told else [])


def test_a_call_without_a_place_that_fetches_is_no_input_to_prepare_ahead() -> None:
    assert [item.where for item in waiting.waits(of_work())] == [()]
    assert not list(waiting.waits(of_work(kind="call", line=32, iterations=None)))


def reading(*rows: Any, iterations: int | None = None) -> Any:
    """Return a loop at line 30 whose line 31 reads; ``rows`` of the stream ``opens``."""
    frame = (Frame(FILE, 1, "<module>", 31),)
    table = make_steps(1 if iterations is None else iterations, 600.0, warm=0, source="work")
    end = table.steps[-1].end_ns
    samples = make_samples([(80, "python", frame), (20, "graph", [Frame(FILE, 1, "<module>", 30)])])
    log = SampleLog({1: Stack(frame, "numpy", "python")}, [(n * end // 100, 1) for n in range(101)])
    given = of_work(
        parts_ms={"python": 480.0, "graph": 120.0},
        account=None,
        steps=table,
        samples=samples,
        log=log,
        records={"opens": list(rows)},
        iterations=iterations,
    )
    return given


def opened(path: str, count: int, *, at_ms: int = 10) -> Any:
    return [path, [[FILE, 31, "<module>"]], count, at_ms * MS, 500 * MS, 1_000_000]


def test_a_file_that_is_read_again_in_a_loop_is_reported_with_how_often() -> None:
    finding = one(reloading.reloads(reading(opened("/data/table.npy", 40))))
    assert finding.code == "INP002" and finding.where[0].line == 31
    assert finding.title == "table.npy is reloaded 40 times in the loop at train.py:30"
    assert "the training loop" not in finding.advice


def test_files_that_are_read_once_each_are_the_work_itself() -> None:
    rows = [opened(f"/data/{n}.npy", 1) for n in range(40)]
    assert not list(reloading.reloads(reading(*rows)))
    assert not list(reloading.reloads(reading(opened("/data/table.npy", 2))))


def evaluating(own_ms: float = 9.0, *, traced_share: float | None = None, **fields: Any) -> Any:
    """``evaluate`` at line 31, called for all of a work of eight seconds, over 200 batches of a dataset."""
    frame = (Frame(FILE, 1, "<module>", 31),)
    slow = mapped(own_ms=own_ms, ops=400)
    given = {"way": "evaluate", "role": "validation", "in_training": False, "line": 31, "outputs_each": 200.0}
    plain = {"iterators": 4, "outputs_per_step": None, "bound_by": 1, "bound_ms_per_output": own_ms}
    made = pipeline(BATCH, slow, stage("Range"), **{**given, **plain, **fields})
    samples = make_samples([(10, "python", frame)])
    for _ in range(90):
        samples.add(Stack(frame, "keras", "graph", "evaluate"))
    table = make_steps(1, 2000.0, warm=0, source="work")
    data: dict[str, Any] = {}
    events: list[Any] = []
    if traced_share is not None:
        window = {"input": 1000 * traced_share, "graph": 1000 * (1 - traced_share)}
        data["tfprof"] = traced({}, steps=0, window_ms=window, wall_ms=1000.0)
        events = [
            {"kind": kind, "probe": "tfprof", name: at * MS}
            for kind, name, at in (("opened", "ns", 100), ("window_end", "end_ns", 1100))
        ]
    log = SampleLog({1: Stack(frame, "keras", "graph", "evaluate")}, [(n * 20 * MS, 1) for n in range(101)])
    given = of_work(
        made,
        parts_ms={"evaluate": 1800.0, "python": 200.0},
        account=None,
        steps=table,
        samples=samples,
        log=log,
        data=data,
        records={"events": events},
        iterations=None,
        kind="call",
        line=31,
    )
    given.work = msgspec.structs.replace(given.work, seconds=8.0)
    return given


def test_what_evaluate_waits_for_is_reported_by_the_pipelines_own_times() -> None:
    finding = one(sequential_stages.sequential(evaluating()))
    assert finding.code == "INP003" and finding.where[0].line == 7
    # 4 iterators of 200 batches in 8 s; 9 ms each: 1800 of 2000 ms in a stretch of 2 s
    assert finding.share_of_step == pytest.approx(0.9)
    assert "INP001" in finding.absorbs


def test_a_pipeline_that_keeps_up_with_evaluate_is_left_in_peace() -> None:
    assert not codes(evaluating(own_ms=0.3)) & {"INP001", "INP003", "INP007"}
    assert not codes(evaluating(traced_share=0.01)) & {"INP001", "INP003", "INP007"}


def test_a_trace_knows_better_what_evaluate_waits_for() -> None:
    finding = one(sequential_stages.sequential(evaluating(own_ms=2.0, traced_share=0.8)))
    assert finding.share_of_step == pytest.approx(0.8 * 0.9)


def test_arrays_that_keras_makes_a_dataset_of_are_not_the_persons_pipeline() -> None:
    own = {"by": "keras", "parameters": {"batch_size": 32}}
    given = evaluating()
    pipelines = given.offer(InputData).pipelines
    kept = tuple(msgspec.structs.replace(item, **own) for item in pipelines[0].stages)
    assert feed(evaluating()) is not None
    assert not evaluated_wait(given, msgspec.structs.replace(pipelines[0], stages=kept)).ms


def test_the_pipeline_of_an_evaluate_in_a_function_is_found_by_its_line() -> None:
    given = evaluating()
    given.work = msgspec.structs.replace(given.work, where=SourceSpan(FILE, 3))
    assert one(sequential_stages.sequential(given)).code == "INP003"


def single(*stages: Any, **fields: Any) -> Any:
    """Return a loop over single elements that waits 0.6 ms of each millisecond."""
    source = stage("TensorSlice", element="float32[8], int64[]", self_ms_per_output=0.05, bytes_per_element=40)
    given = pipeline(*(stages or (stage("Shuffle", self_ms_per_output=0.05), source)), way="", line=30, **fields)
    account = make_account({"input": 0.6, "other": 0.3, "python": 0.1})
    samples = make_samples([])
    samples.add(Stack((Frame(FILE, 1, "<module>", 30),), "tensorflow", "input"), 100)
    return of_work(given, iterations=9000, account=account, samples=samples, **fields)


def test_elements_that_are_handed_over_one_by_one() -> None:
    finding = one(single_elements.one_by_one(single()))
    assert (finding.code, finding.where[0].line) == ("INP015", 30)
    assert "for rows in data.batch(256).as_numpy_iterator():" in finding.advice and "zip(*rows)" in finding.advice
    low, high = ranged(finding)
    assert 1.5 < low < 2.2 < 5 < high


@pytest.mark.parametrize(
    "stages",
    [
        (BATCH, stage("TensorSlice", self_ms_per_output=0.01)),
        (mapped(own_ms=0.5, bytes_per_element=40), stage("TensorSlice", self_ms_per_output=0.01)),
        (mapped(own_ms=None, bytes_per_element=40), stage("TensorSlice", self_ms_per_output=0.01)),
        (stage("Generator", is_python=True, self_ms_per_output=0.01),),
        (stage("TensorSlice", element="float32[?,8]", self_ms_per_output=0.01),),
        (stage("TensorSlice", bytes_per_element=100_000, self_ms_per_output=0.01),),
    ],
)
def test_batches_work_of_the_pipeline_and_what_makes_no_batch(stages: Any) -> None:
    assert not list(single_elements.one_by_one(single(*stages)))


def test_a_handful_of_elements_and_training_are_no_matter() -> None:
    given = single()
    assert given.work is not None
    given.work = msgspec.structs.replace(given.work, iterations=300)
    assert not list(single_elements.one_by_one(given))
    given.work = None
    assert not list(single_elements.one_by_one(given))
