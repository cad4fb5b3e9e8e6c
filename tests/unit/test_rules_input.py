"""The rules of family input on made-up evidence: each fires on a planted fault, silent on its healthy twin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import pytest
from evidence_builder import FILE, MS, make_account, make_evidence, make_samples, make_steps
from tfperfkit_probes.input_model import ConstantFunction, InputData, KerasInput, Loader, Pipeline, Stage
from tfperfkit_probes.memory_model import MemoryData
from tfperfkit_rules import input as rules
from tfperfkit_rules import input_feed, input_loads, input_made, input_order, input_stages, input_wait

from tfperfkit.evidence import Evidence
from tfperfkit.model import Finding, Outlier, SourceSpan, StepAccount
from tfperfkit.samples import Frame, SampleLog, Samples, Stack

WAITS = {"input": 6.0, "graph": 4.0}
SOURCE = "\n".join(f"line {n}" for n in range(1, 41))


def stage(kind: str, line: int = 5, **fields: Any) -> Stage:
    return Stage(**{"kind": kind, "cls": f"_{kind}Dataset", "file": FILE, "line": line, **fields})


def mapped(kind: str = "Map", own_ms: float | None = 9.0, **fields: Any) -> Stage:
    given = {"mapped": SourceSpan(FILE, 2, "load"), "self_ms_per_output": own_ms, "ops": 30,
             "bytes_per_element": 50_000, **fields}
    return stage(kind, 7, **given)


def pipeline(*stages: Stage, **fields: Any) -> Pipeline:
    given = {"file": FILE, "line": 20, "function": "", "role": "training", "in_training": True, "measured": "model",
             "outputs_per_step": 1.0, "iterators": 1, "iterators_per_step": 0.01, "way": "fit", **fields}
    return Pipeline(stages=stages, **given)


def evidence(*pipelines: Pipeline, data: dict[str, Any] | None = None, **fields: Any) -> Evidence:
    """A step of 10 ms that waits 6 ms for its input, unless told otherwise."""
    inputs = fields.pop("inputs", {})
    made = InputData(pipelines=pipelines, steps=60, **inputs)
    memory = MemoryData(limit_bytes=8_000_000_000)
    given = {"source": SOURCE, **({} if "account" in fields else {"parts_ms": WAITS}), **fields}
    return make_evidence(data={"input": made, "memory": memory, **(data or {})}, **given)


def codes(given: Evidence) -> set[str]:
    return {finding.code for rule in rules.RULES for finding in rule(given)}


def one(found: Iterable[Finding]) -> Finding:
    (finding,) = found
    assert finding.evidence and finding.where
    return finding


def ranged(finding: Finding) -> tuple[float, float]:
    assert finding.predicted_range is not None and finding.predicted_speedup is not None
    assert finding.predicted_range[0] <= finding.predicted_speedup <= finding.predicted_range[1]
    return finding.predicted_range


PREFETCH, BATCH = stage("Prefetch", 9), stage("Batch", 8, parameters={"batch_size": 32}, fused=True)
SLOW = pipeline(PREFETCH, BATCH, mapped(stateful_or_random=True), bound_by=2, bound_ms_per_output=9.5)


def test_a_sequential_map_is_named_with_at_most_the_processors_gain() -> None:
    finding = one(input_stages.sequential(evidence(SLOW)))
    assert (finding.code, finding.where[0].line) == ("INP003", 7)
    low, high = ranged(finding)
    assert 1 <= low < high <= 2 and "INP001" in finding.absorbs
    assert "num_parallel_calls" in finding.advice


def test_one_processor_gains_nothing_by_parallel_calls() -> None:
    assert not list(input_stages.sequential(evidence(SLOW, machine={"cpus": 1})))


def test_a_parallel_map_is_not_told_to_be_parallel() -> None:
    parallel = pipeline(PREFETCH, mapped("ParallelMap", parallelism=2.0, stateful_or_random=True),
                        bound_by=1, bound_ms_per_output=9.5)
    assert codes(evidence(parallel)) == {"INP001"}


def test_a_pipeline_that_is_ready_in_time_is_left_in_peace() -> None:
    assert not codes(evidence(SLOW, parts_ms={"input": 0.07, "graph": 9.93}))
    idle = pipeline(PREFETCH, mapped(own_ms=2.0), bound_by=1, bound_ms_per_output=2.0)
    assert not codes(evidence(idle))


def test_where_the_model_lost_its_times_the_trace_tells() -> None:
    slow = mapped(own_ms=0.2, trace_self_ms_per_step=7.0, stateful_or_random=True)
    records = stage("TFRecord", 4, self_ms_per_output=0.5, trace_self_ms_per_step=1.0)
    made = pipeline(PREFETCH, BATCH, slow, records, bound_by=3, bound_ms_per_output=0.7)
    assert one(input_stages.sequential(evidence(made))).where[0].line == 7
    seldom = evidence(made, parts_ms={"input": 1.0, "graph": 9.0})
    assert not codes(seldom)


def test_a_generator_sets_the_pace() -> None:
    generator = stage("Generator", 11, is_python=True, nested=1, self_ms_per_output=9.0,
                      mapped=SourceSpan(FILE, 3, "rows"))
    made = pipeline(PREFETCH, stage("FlatMap", 11, self_ms_per_output=0.1), generator, bound_by=2,
                    bound_ms_per_output=9.1)
    finding = one(input_stages.python_input(evidence(made)))
    assert finding.code == "INP005" and [place.line for place in finding.where] == [11, 3]
    assert "rows" in finding.advice and ranged(finding)[1] == pytest.approx(10 / 4, rel=0.05)
    assert "INP001" in finding.absorbs


def test_a_pydataset_is_named_by_its_method() -> None:
    generator = stage("Generator", 33, by="keras", is_python=True, self_ms_per_output=9.0)
    made = pipeline(PREFETCH, generator, bound_by=1, bound_ms_per_output=9.0)
    row = KerasInput(kind="PyDataset", way="fit", validation=False, file=FILE, line=33, function="", cls="Noise",
                     place=SourceSpan(FILE, 15, "Noise.__getitem__"), workers=1, use_multiprocessing=False, pipeline=0)
    finding = one(input_stages.python_input(evidence(made, inputs={"keras": (row,)})))
    assert finding.where[0].line == 15 and "Noise.__getitem__" in finding.advice
    assert "use_multiprocessing=True" in finding.advice


def test_a_pydataset_that_was_not_seen_is_named_by_its_only_method() -> None:
    source = "class Noise(PyDataset):\n    def __getitem__(self, index):\n        return 1\n"
    made = pipeline(PREFETCH, stage("Generator", 33, by="keras", is_python=True, self_ms_per_output=9.0), bound_by=1,
                    bound_ms_per_output=9.0)
    finding = one(input_stages.python_input(evidence(made, source=source)))
    assert [place.line for place in finding.where] == [2, 33]


def test_a_prefetch_that_waits_for_a_processor_is_no_slow_pipeline() -> None:
    made = pipeline(stage("Prefetch", 9, self_ms_per_output=8.0), BATCH, bound_by=0, bound_ms_per_output=8.0)
    assert not codes(evidence(made))


def test_a_py_function_is_named_at_its_call() -> None:
    source = "import tensorflow as tf\ndef load(x):\n    y = tf.numpy_function(jitter, [x], tf.float32)\n    return y\n"
    made = pipeline(PREFETCH, mapped("ParallelMap", is_python=True), bound_by=1, bound_ms_per_output=9.0)
    finding = one(input_stages.python_input(evidence(made, source=source)))
    assert finding.where[0].line == 3


def tiny(**fields: Any) -> Pipeline:
    rows = stage("TensorSlice", 6, bytes_per_element=84)
    cheap = mapped("ParallelMap", **{"own_ms": 8.0, "ops": 11, "bytes_per_element": 164, **fields})
    batch = stage("Batch", 8, parameters={"batch_size": 256}, fused=True)
    return pipeline(PREFETCH, batch, cheap, rows, bound_by=2, bound_ms_per_output=8.0, iterators=4)


def test_a_cheap_function_per_example_is_to_be_mapped_over_batches() -> None:
    given = evidence(tiny())
    finding = one(input_stages.per_example(given))
    assert finding.code == "INP007" and ".batch(256).map(load" in finding.advice and finding.where[0].line == 7
    assert not list(input_order.repeated(given))  # a cache would keep single examples: the lesser remedy


@pytest.mark.parametrize("fields", [
    {"ops": 2, "own_ms": 20.0}, {"stateful_or_random": True}, {"bytes_per_element": None},
    {"bytes_per_element": 500_000}, {"is_python": True},
])
def test_work_that_is_not_a_call_s_cost_stays_per_example(fields: dict[str, Any]) -> None:
    assert not list(input_stages.per_example(evidence(tiny(**fields))))


def decoded(*before: Stage, **fields: Any) -> Pipeline:
    files = stage("TensorSlice", 3)
    shuffle = stage("Shuffle", 6, stateful_or_random=True, parameters={"buffer_size": 240}, buffered_mean=200.0)
    given = {"iterators": 12, "bound_by": 3, "bound_ms_per_output": 9.5, **fields}
    return pipeline(PREFETCH, BATCH, shuffle, mapped("ParallelMap"), *before, files, **given)


def test_what_each_epoch_repeats_is_to_be_cached() -> None:
    finding = one(input_order.repeated(evidence(decoded())))
    assert finding.code == "INP006" and finding.where[0].line == 7 and ".cache()" in finding.advice
    # The map's 9 ms kept two processors busy for 0.45 of 10 ms: at best the other 4 ms shrink by that.
    assert ranged(finding)[1] == pytest.approx(10 / (4 / 1.45))
    assert any(row.unit == "bytes" for row in finding.evidence)


def test_a_cache_before_the_costly_map_is_in_the_wrong_place() -> None:
    finding = one(input_order.repeated(evidence(decoded(stage("Cache", 4)))))
    assert finding.code == "INP008" and finding.where[0].line == 4


def test_no_cache_for_one_epoch_random_maps_or_too_much_data() -> None:
    assert not list(input_order.repeated(evidence(decoded(iterators=1))))
    assert not list(input_order.repeated(evidence(SLOW)))
    huge = pipeline(PREFETCH, BATCH, mapped("ParallelMap", bytes_per_element=400_000_000), bound_by=2,
                    bound_ms_per_output=9.5, iterators=4)
    assert not list(input_order.repeated(evidence(huge)))


def test_a_cache_after_the_map_is_left_in_peace() -> None:
    cached = pipeline(PREFETCH, BATCH, stage("Cache", 8, self_ms_per_output=9.0), mapped(), bound_by=2,
                      bound_ms_per_output=9.0, iterators=4)
    assert not list(input_order.repeated(evidence(cached)))


def epochs_account(cause: str = "a compiled function") -> StepAccount:
    """60 steps in epochs of 15: the first step of each takes 150 ms more."""
    late = tuple(Outlier(step=n, ms=155.0, excess_ms=150.0, cause=cause) for n in (16, 31, 46))
    jitter = (Outlier(step=20, ms=8.0, excess_ms=3.0),)
    return make_account({"graph": 12.9}, steps=57, outliers=(*late, *jitter))


def test_buffers_that_fill_as_epochs_begin_are_waiting_too() -> None:
    unmeasured = decoded(bound_by=None, bound_ms_per_output=None)
    unmeasured = pipeline(*(
        item if item.kind != "ParallelMap" else mapped("ParallelMap", own_ms=None) for item in unmeasured.stages
    ), iterators=4)
    given = evidence(unmeasured, account=epochs_account(), steps=make_steps())
    found = input_feed.epochs(given)
    assert found is not None and found.length == 15 and found.unseen_ms == pytest.approx(450 / 57)
    finding = one(input_order.repeated(given))
    assert finding.code == "INP006" and finding.share_of_step == pytest.approx(450 / 57 / 12.9)


def test_a_second_network_at_every_fifth_step_is_no_epoch_where_fetches_are_seen() -> None:
    table = make_steps()
    fetched = [msgspec.structs.replace(step, input_ns=100_000) for step in table.steps]
    table = msgspec.structs.replace(table, steps=tuple(fetched))
    assert input_feed.epochs(evidence(SLOW, account=epochs_account(), steps=table)) is None
    assert input_feed.epochs(evidence(SLOW, account=epochs_account("input"), steps=table)) is not None


def test_late_steps_anywhere_are_no_epochs() -> None:
    late = tuple(Outlier(step=n, ms=155.0, excess_ms=150.0, cause="") for n in (14, 23, 39, 40))
    account = make_account({"graph": 12.9}, steps=57, outliers=late)
    assert input_feed.epochs(evidence(SLOW, account=account, steps=make_steps())) is None


def test_a_wrong_order_is_a_remark() -> None:
    batch = stage("Batch", 4, parameters={"batch_size": 32})
    made = pipeline(stage("Shuffle", 6, parameters={"buffer_size": 10}), batch)
    finding = one(input_order.order(evidence(made)))
    assert (finding.code, finding.severity, finding.where[0].line) == ("INP008", "info", 6)
    augmented = pipeline(stage("Cache", 8), mapped(stateful_or_random=True))
    assert "random" in one(input_order.order(evidence(augmented))).title
    endless = pipeline(stage("Cache", 8), stage("Repeat", 5, parameters={"count": -1}))
    assert "endless" in one(input_order.order(evidence(endless))).title


def test_the_usual_order_is_right() -> None:
    usual = pipeline(PREFETCH, BATCH, stage("Shuffle", 6), stage("Cache", 5), mapped())
    assert not list(input_order.order(evidence(usual)))


def test_work_behind_prefetch() -> None:
    made = pipeline(mapped(stateful_or_random=True), PREFETCH, bound_by=0, bound_ms_per_output=6.0)
    finding = one(input_order.late_prefetch(evidence(made)))
    assert finding.code == "INP008" and finding.where[0].line == 9
    assert not list(input_order.late_prefetch(evidence(SLOW)))


def buffer(held: float, size: int, source_size: int | None) -> Evidence:
    shuffle = stage("Shuffle", 6, parameters={"buffer_size": 20_000}, buffered_mean=held, bytes_per_element=size)
    source = stage("TensorSlice", 3, bytes_per_element=source_size)
    return evidence(pipeline(PREFETCH, shuffle, mapped("ParallelMap", bytes_per_element=size), source))


def test_a_buffer_of_decoded_images_is_a_risk() -> None:
    finding = one(input_order.large_buffer(buffer(480, 300_000, None)))
    assert (finding.code, finding.basis, finding.severity, finding.where[0].line) == ("INP009", "risk", "low", 6)
    assert not list(input_order.large_buffer(buffer(480, 3_000, None)))
    assert not list(input_order.large_buffer(buffer(480, 300_000, 300_000)))
    assert one(input_order.large_buffer(buffer(10_000, 500_000, 500_000))).severity == "high"


def test_no_prefetch_where_none_is_running() -> None:
    bare = pipeline(BATCH, mapped(stateful_or_random=True), bound_by=1, bound_ms_per_output=6.0)
    finding = one(input_wait.no_prefetch(evidence(bare)))
    assert finding.code == "INP004" and finding.where[0].line == 8
    assert ranged(finding) == pytest.approx((10 / (4 + 0.8 * 6), 10 / 6))
    injected = pipeline(stage("Prefetch", 0, file="", added=True), *bare.stages, bound_by=2, bound_ms_per_output=6.0)
    assert not list(input_wait.no_prefetch(evidence(injected)))


def test_a_wait_that_nothing_explains_names_the_stage() -> None:
    finding = one(input_wait.waits(evidence(SLOW)))
    assert finding.code == "INP001" and "map(load) sets the pace" in finding.title
    assert ranged(finding) == pytest.approx((1.0, 10 / 4))


def test_a_tiny_step_that_waits_for_a_plain_shuffle_is_a_remark() -> None:
    shuffle = stage("Shuffle", 6, self_ms_per_output=0.9)
    made = pipeline(PREFETCH, BATCH, shuffle, bound_by=2, bound_ms_per_output=1.0)
    tiny_step = evidence(made, parts_ms={"input": 0.6, "graph": 0.5})
    assert one(input_wait.waits(tiny_step)).severity == "info"
    assert one(input_wait.waits(evidence(SLOW))).severity == "low"


def test_keras_own_map_over_arrays_is_no_function_to_make_faster() -> None:
    own = SourceSpan("/site-packages/keras/array_data_adapter.py", 202, "grab_batch")
    arrays = pipeline(PREFETCH, mapped("ParallelMap", 0.2, parallelism=2.0, mapped=own), bound_by=1,
                      bound_ms_per_output=0.9)
    finding = one(input_wait.waits(evidence(arrays, parts_ms={"input": 0.6, "graph": 0.4})))
    assert finding.severity == "info" and "grab_batch" not in finding.title + finding.advice
    assert "batch_size" in finding.advice
    late = tuple(Outlier(step=n, ms=4.0, excess_ms=3.0, cause="") for n in (16, 31, 46))
    filling = evidence(arrays, account=make_account({"graph": 1.0}, outliers=late), steps=make_steps())
    assert one(input_wait.waits(filling)).severity == "info"


def test_a_wait_without_a_known_pipeline_is_told_all_the_same() -> None:
    sites = [{"id": 1, "kind": "next", "target": 1, "file": FILE, "line": 12}]
    finding = one(input_wait.waits(evidence(records={"sites": sites})))
    assert finding.code == "INP001" and finding.where[0].line == 12


LOOP, FETCH = Frame(FILE, 1, "<module>", 30), Frame(FILE, 10, "fetch", 12)


def sampled(*, loading: int = 60, picking: int = 20, computing: int = 20) -> Samples:
    samples = make_samples([
        (picking, "python", [LOOP, Frame(FILE, 10, "fetch", 14)]),
        (computing, "graph", [Frame(FILE, 1, "<module>", 31)]),
    ])
    for _ in range(loading):
        samples.add(Stack((LOOP, FETCH), "numpy", "python"))
    return samples


def loader(**fields: Any) -> Loader:
    chain = (SourceSpan(FILE, 12, "fetch"), SourceSpan(FILE, 30, "<module>"))
    given = {"path": "data/x.npz", "paths": 1, "chain": chain, "loader": chain[1], "opens": 60, "opens_per_step": 1.0,
             "bytes_per_step": 1e6, "share_of_step": 0.8, "ms_per_step": 8.0, **fields}
    return Loader(**given)


PYTHON = {"python": 8.0, "graph": 2.0}


def loads(*loaders: Loader, constants: Sequence[ConstantFunction] = (), **fields: Any) -> Evidence:
    inputs = {"loaders": loaders, "constant_functions": tuple(constants), "watched": (2, 3)}
    return evidence(inputs=inputs, **{"parts_ms": PYTHON, "samples": sampled(), **fields})


def constant(name: str = "fetch", line: int = 10) -> ConstantFunction:
    return ConstantFunction(file=FILE, line=line, function=name, calls=2, steps=2, calls_per_step=1.0,
                            returns="float32[60000,28,28,1]", size=188_000_000, share_of_step=0.8)


def test_a_function_that_also_picks_is_told_at_the_line_that_loads() -> None:
    finding = one(input_loads.reloads(loads(loader())))
    assert finding.code == "INP002" and [place.line for place in finding.where] == [12, 30]
    assert finding.share_of_step == pytest.approx(0.6)  # 60 of the 80 samples of Python, which is 0.8 of the step
    assert ranged(finding)[0] < 2.5 < ranged(finding)[1]


def test_a_function_that_does_nothing_but_load_is_told_at_its_call() -> None:
    finding = one(input_loads.reloads(loads(loader(), constants=[constant()])))
    assert [place.line for place in finding.where][:2] == [30, 12]
    assert finding.share_of_step == pytest.approx(0.8) and "INP011" in finding.absorbs
    assert 'move "line 30" out of the step' in finding.advice


def test_freeing_what_was_loaded_counts_at_most() -> None:
    plain = ranged(one(input_loads.reloads(loads(loader()))))
    freeing = ranged(one(input_loads.reloads(loads(loader(), parts_ms={"python": 8.0, "graph": 1.0, "other": 1.0}))))
    assert plain[0] == freeing[0] and plain[1] < freeing[1]


def test_shares_follow_the_account_not_the_samples_alone() -> None:
    """Compiled functions are sampled more often than Python that holds the lock."""
    finding = one(input_loads.reloads(loads(loader(), samples=sampled(loading=30, picking=0, computing=70))))
    assert finding.share_of_step == pytest.approx(0.8)


def test_a_file_opened_now_and_then_or_at_no_cost_is_no_loader() -> None:
    assert not list(input_loads.reloads(loads(loader(opens_per_step=0.1))))
    assert not list(input_loads.reloads(loads(loader(), samples=sampled(loading=0))))


def test_without_the_probe_input_the_session_s_own_records_tell() -> None:
    chain = [[FILE, 12, "fetch"], [FILE, 30, "<module>"]]
    opens = ["data/x.npz", chain, 60, 0, 590 * MS, 1000]
    given = make_evidence(parts_ms=PYTHON, samples=sampled(), source=SOURCE, records={"opens": [opens]})
    whole = one(input_loads.reloads(given))
    # Nobody watched what it returns: the call as a whole, which may pick the batch too.
    assert (whole.where[0].file, whole.where[0].line) == (FILE, 30)
    assert '"line 30"' not in whole.advice and "what train.py:30 calls should only pick its batch" in whole.advice
    seldom = ["data/x.npz", chain, 6, 0, 590 * MS, 1000]
    rare = make_evidence(parts_ms=PYTHON, samples=sampled(), source=SOURCE, records={"opens": [seldom]})
    assert not list(input_loads.reloads(rare))


def test_what_the_tool_itself_reads_is_not_the_script_s() -> None:
    given = loads(loader(path="/runs/one/probes/input/model.pb"))
    given.run = msgspec.structs.replace(given.run, directory="/runs/one")
    assert not list(input_loads.reloads(given))


def test_a_constant_function_is_named_where_it_is_called() -> None:
    log = SampleLog({1: Stack((LOOP, FETCH), "numpy", "python")}, [(5 * MS * 10, 1)])
    finding = one(input_loads.constant_values(loads(constants=[constant()], log=log)))
    assert finding.code == "INP011" and [place.line for place in finding.where][:2] == [30, 10]
    assert finding.share_of_step == pytest.approx(0.8) and '"line 30"' in finding.advice
    assert not list(input_loads.constant_values(loads()))


def made_anew(**fields: Any) -> Evidence:
    shuffle = stage("Shuffle", 7, parameters={"buffer_size": 12_000})
    made = pipeline(shuffle, stage("TensorSlice", 7), line=29, **{"way": "", **fields})
    samples = make_samples([
        (70, "input", [Frame(FILE, 1, "<module>", 29)]), (30, "graph", [Frame(FILE, 1, "<module>", 30)]),
    ])
    return evidence(made, samples=samples)


def test_an_iterator_for_each_step() -> None:
    finding = one(input_made.made_in_loop(made_anew(iterators=256, iterators_per_step=0.85)))
    assert finding.code == "INP012" and [place.line for place in finding.where] == [29, 7]
    low, high = ranged(finding)
    assert 2 < low < 1 / 0.3 < high and "INP001" in finding.absorbs


def test_an_iterator_for_each_epoch_is_as_it_should_be() -> None:
    assert not list(input_made.made_in_loop(made_anew(iterators=6, iterators_per_step=0.03)))
    assert not list(input_made.made_in_loop(made_anew(iterators=256, iterators_per_step=0.85, way="fit")))


def test_a_data_set_built_in_the_loop_costs_what_its_lines_take() -> None:
    made = pipeline(mapped(), stage("TensorSlice", 6), line=29, way="", datasets_made=20, iterators=20,
                    iterators_per_step=0.3)
    stacks = {1: Stack((Frame(FILE, 1, "<module>", 7),), "tensorflow", "dispatch"),
              2: Stack((Frame(FILE, 1, "<module>", 30),), "tensorflow", "graph")}
    log = SampleLog(stacks, [(number * 5 * MS + 40 * MS, 1 if number % 2 else 2) for number in range(100)])
    given = evidence(made, samples=sampled(), log=log)
    finding = one(input_made.made_in_loop(given))
    assert finding.code == "INP012" and {place.line for place in finding.where} == {29, 7}
    strategy = stage("Generator", 29, cls="_ReincarnatedPerDeviceGenerator")
    of_devices = msgspec.structs.replace(made, stages=(PREFETCH, strategy))
    assert not list(input_made.made_in_loop(evidence(of_devices, samples=sampled(), log=log)))
    once = msgspec.structs.replace(made, datasets_made=1)
    assert not list(input_made.made_in_loop(evidence(once, samples=sampled(), log=log)))


def test_a_data_set_in_a_graph_is_a_constant_of_it() -> None:
    arrays = stage("TensorSlice", 6, memory_bytes=60_000_000)
    finding = one(input_made.constant_data(evidence(pipeline(arrays, in_graph="train"))))
    assert (finding.code, finding.basis, finding.where[0].line) == ("INP010", "risk", 6)
    assert not list(input_made.constant_data(evidence(pipeline(arrays))))
    large = stage("TensorSlice", 6, memory_bytes=900_000_000)
    raw = {"memory": {"limit_bytes": 8_000_000_000}}
    assert one(input_made.constant_data(evidence(pipeline(large), data=raw))).severity == "low"


def test_without_records_every_rule_is_silent() -> None:
    assert not codes(make_evidence(parts_ms={"graph": 10.0}))
    assert not codes(make_evidence())
