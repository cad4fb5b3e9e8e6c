"""The rules about XLA and compiling, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import MS, make_account, make_evidence, make_steps
from msgspec.structs import replace
from tfperfkit_rules.compile.tracing import many_small_operations, run_spent_on_compiling
from tfperfkit_rules.compile.xla import compiles_again, slower_by_xla, without_effect
from tfperfkit_rules.compile.xla_shapes import compiles_each_shape
from tfperfkit_rules.measures.xla_shapes import compiling_share
from tfprof_builder import brief, graphs, op, traced

from tfperfkit.model import Outlier, SourceSpan, WarmUp, Work
from tfperfkit.offers import AvoidableTracing, ComputedOperation, ComputedStep
from tfperfkit.rule import Evidence

JIT_SOURCE = "import tensorflow as tf\n\n\n\n@tf.function(jit_compile=True)\ndef train_step(x):\n    return x\n"
XLA = op("XLA", 50.0, where="xla")


def jit(trace: Any, source: str = JIT_SOURCE, outliers: int = 0, tracing: float = 0.0, **fields: Any) -> Evidence:
    """Return a step of 100 ms; each outlier adds 10 ms to the mean step."""
    account = make_account(
        {"graph": 95.0 - tracing, "python": 5.0, "tracing": tracing},
        steps=50,
        outliers=tuple(
            Outlier(step=9 + n, ms=600, excess_ms=500, cause="a compiled function") for n in range(outliers)
        ),
    )
    function = brief(jit_compile=True, line=5, **fields)
    return make_evidence(account=account, data={"tfprof": trace, "ops": graphs(function)}, source=source)


def test_compilations_in_traced_steps() -> None:
    trace = traced(XLA, xla_compiles=3, xla_compile_ms=40.0)  # of 100 ms
    (finding,) = compiles_again(jit(trace))
    assert finding.gain.bounds == pytest.approx((1 / 0.8, 1 / 0.6))
    assert [span.line for span in finding.where] == [5, 5]


def test_outliers_widen_the_range() -> None:
    trace = traced(XLA, xla_compiles=3, xla_compile_ms=20.0)
    (finding,) = compiles_again(jit(trace, outliers=5))  # 5 * 500 / (50 * 100) = 0.5
    assert finding.title.endswith("for each new input shape")
    assert finding.gain.bounds == pytest.approx((1 / 0.8, 1 / 0.5))


def test_where_each_step_compiles_all_that_no_operation_ran_is_compiling() -> None:
    little = op("XLA", 1.0, where="xla")
    trace = traced(little, xla_compiles=5, xla_compile_ms=40.0)
    (finding,) = compiles_again(jit(trace))
    # of 100 ms 5 stay, 0.1 ms of operations up to five times, a call, and compiling once in 50 steps
    low, high = finding.gain.bounds or (0, 0)
    assert low == pytest.approx(100 / (5 + 5 * 0.1 + 1 + 2), rel=0.1)
    assert low < high <= 100 / 5


def test_where_the_operations_take_the_time_only_making_machine_code_counts() -> None:
    trace = traced(op("XLA", 480.0, where="xla"), xla_compiles=5, xla_compile_ms=40.0)
    (finding,) = compiles_again(jit(trace))
    assert finding.gain.bounds == pytest.approx((1 / 0.8, 1 / 0.6))


def test_no_compilation_or_a_retrace_is_none() -> None:
    assert list(compiles_again(jit(traced(XLA), outliers=5))) == []
    assert list(compiles_again(jit(traced(XLA, xla_compiles=3, xla_compile_ms=40.0), tracing=10.0))) == []


def shapes(programs: int, lengths: dict[int, float], *, compiles: int = 0, traced_first: bool = True) -> Evidence:
    """Return sixty steps of 10 ms, but for those with ``lengths`` in ms, in a run of 10 s. ``programs``: that XLA made
    of the step's function."""
    trace = traced(
        XLA,
        xla_programs={"a_inference_train_step_1__": programs, "a_inference_other_2__": 9},
        xla_compiles=compiles,
        xla_compile_ms=40.0 * compiles,
    )
    begin, steps = 0, []
    for step in make_steps(60).steps:
        end = begin + round(lengths.get(step.number, 10.0) * MS)
        steps.append(replace(step, begin_ns=begin, end_ns=end))
        begin = end
    evidence = make_evidence(
        account=make_account({"graph": 9.0, "python": 1.0}),
        steps=replace(make_steps(60), steps=tuple(steps)),
        data={"tfprof": trace, "ops": graphs(brief(jit_compile=True, line=5))},
        source=JIT_SOURCE,
        tracing=[(0, 500 * MS)] if traced_first else (),
    )
    evidence.run = replace(evidence.run, wall_s=10.0)
    return evidence


def test_shapes_that_were_compiled_in_the_first_steps() -> None:
    evidence = shapes(3, {1: 2000.0, 2: 1210.0, 4: 810.0})
    (finding,) = compiles_each_shape(evidence)
    assert (finding.code, finding.basis) == ("CMP001", "run")
    assert finding.share_of_step == pytest.approx(0.2)  # the first step has a program that stays
    assert {row.name: row.value for row in finding.evidence}["steps longer by a compilation"] == 2
    assert finding.gain.bounds == pytest.approx((1 / (1 - 0.14), 1 / (1 - 0.3)))
    assert compiling_share(evidence) == pytest.approx(800 / (57 * 10 + 800))  # the fourth step is a clean one


@pytest.mark.parametrize(
    ("programs", "lengths", "compiles"),
    [(1, {2: 1200.0, 4: 800.0}, 0), (3, {2: 20.0, 4: 30.0}, 0), (3, {2: 120.0}, 0), (3, {2: 1200.0, 4: 800.0}, 2)],
    ids=["one shape", "no long step", "quickly compiled", "the traced steps compile"],
)
def test_one_shape_or_quick_compilations_are_none(programs: int, lengths: dict[int, float], compiles: int) -> None:
    assert not list(compiles_each_shape(shapes(programs, lengths, compiles=compiles)))


def test_xla_far_below_the_machine() -> None:
    # 1 GFLOP at 100 GFLOP/s: 10 ms; 95 ms were taken.
    (finding,) = slower_by_xla(jit(traced(XLA)))
    lower, upper = finding.gain.bounds or (0, 0)
    assert 4 < lower < upper < 15 and finding.where[0].line == 5


@pytest.mark.parametrize(
    "fields",
    [
        {"flops": 2e10},
        {"flops": None},
        {"moved_bytes": 1e9},
        {"heavy": 0},
        {"flops_note": "7 operations of open size are not counted"},
    ],
)
def test_xla_near_the_machine_or_unknown_work_is_none(fields: dict[str, Any]) -> None:
    assert list(slower_by_xla(jit(traced(XLA), **fields))) == []


def test_xla_that_compiles_is_reported_by_the_other_rule() -> None:
    assert list(slower_by_xla(jit(traced(XLA, xla_compiles=2, xla_compile_ms=40.0)))) == []


def plain(*rows: Any, device: str = "/device:CPU:0", **fields: Any) -> Evidence:
    return make_evidence(
        parts_ms={"graph": 9.0, "python": 1.0},
        data={"tfprof": traced(*rows), "ops": graphs(brief(**fields))},
        machine={"devices": [device]},
    )


def test_elementwise_operations() -> None:
    (finding,) = many_small_operations(plain(op("Mul", 80.0), op("Gather", 20.0)))
    assert finding.gain.bounds == pytest.approx((1.0, 1 / (1 - 0.8 * 0.72)))
    assert [(span.file, span.line) for span in finding.where] == [("train.py", 5)]


def test_the_lines_that_take_most_of_it_come_first_with_their_size() -> None:
    def row(kind: str, line: int, took: float, shapes: str) -> ComputedOperation:
        return ComputedOperation(
            name=f"{kind}_{line}",
            type=kind,
            stage="forward",
            runs=1,
            ms=took,
            busy_ms=took,
            file="loss.py",
            line=line,
            shapes=shapes,
        )

    rows = (
        row("MatMul", 3, 2.0, "256×64, 64×256 → 256×256"),
        row("Mul", 7, 3.0, "256×256×256, 256×256×256 → 256×256×256"),
        row("Sum", 7, 1.0, "256×256×256 → "),
        row("Maximum", 8, 2.0, "256×256×256, 1 → 256×256×256"),
    )
    step = ComputedStep(ms=8.0, idle_ms=0.0, waits_ms=0.0, unknown_ms=0.0, operations=rows)
    evidence = make_evidence(
        parts_ms={"graph": 9.0, "python": 1.0},
        data={"tfprof": traced(op("Mul", 80.0), op("MatMul", 20.0)), "ops": graphs(brief())},
        machine={"devices": ["/device:CPU:0"]},
        offers={"lines": (step,)},
    )
    (finding,) = many_small_operations(evidence)
    assert [(span.file, span.line) for span in finding.where] == [("loss.py", 7), ("train.py", 5)]
    assert "Line 7 makes tensors of 256×256×256, 16,777,216 numbers" in finding.detail


def test_slices_and_sums_are_fused_too() -> None:
    (finding,) = many_small_operations(plain(op("Mul", 40.0), op("StridedSliceGrad", 40.0), op("Gather", 20.0)))
    assert finding.share_of_step == pytest.approx(0.72)
    assert list(many_small_operations(plain(op("StridedSliceGrad", 80.0), op("Mul", 20.0)))) == []


@pytest.mark.parametrize(
    "given",
    [
        plain(op("Mul", 20.0), op("Gather", 80.0)),
        plain(op("Mul", 80.0), op("Cos", 10.0)),
        plain(op("Mul", 80.0, count=10_000)),
        plain(op("Mul", 80.0), op("Conv2D", 20.0)),
        plain(op("Mul", 45.0), op("MatMul", 55.0)),
        plain(op("Mul", 80.0), jit_compile=True),
        plain(op("Mul", 80.0), operations=20_000),
    ],
    ids=["few", "cosines", "small", "convolutions", "products", "compiled", "too many"],
)
def test_where_xla_would_not_help_is_none(given: Evidence) -> None:
    assert list(many_small_operations(given)) == []


def flags(text: str, device: str = "/device:CPU:0", **settings: Any) -> Evidence:
    given = {"environment": {"TF_XLA_FLAGS": text} if text else {}, **settings}
    return make_evidence(
        parts_ms={"graph": 9.0, "python": 1.0},
        settings=given,
        machine={"devices": [device]},
        data={"tfprof": traced(op("Mul", 80.0)), "ops": graphs(brief())},
        source=f"import os\nos.environ['TF_XLA_FLAGS'] = '{text}'\n",
    )


def test_auto_jit_without_effect() -> None:
    (finding,) = without_effect(flags("--tf_xla_auto_jit=2"))
    assert "requested by TF_XLA_FLAGS but" in finding.title
    assert (finding.severity, finding.where[0].line) == ("info", 2)
    assert len(list(without_effect(flags("", jit=True)))) == 1
    assert list(many_small_operations(flags("--tf_xla_auto_jit=2"))) == []


@pytest.mark.parametrize(
    "given",
    [
        flags("--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"),
        flags("--tf_xla_auto_jit=0"),
        flags(""),
        flags("--tf_xla_auto_jit=2", device="/device:GPU:0"),
    ],
)
def test_auto_jit_with_effect_or_off_is_none(given: Evidence) -> None:
    assert list(without_effect(given)) == []


def run(first_s: float, wall_s: float, heavy: int = 10, **fields: Any) -> Evidence:
    warm = WarmUp(total_s=first_s, parts_s={"compile and first runs": first_s})
    return make_evidence(
        parts_ms={"graph": 9.0},
        warm_up=warm,
        wall_s=wall_s,
        tracing=[(0, 10_000_000_000)],
        data={"ops": graphs(brief(heavy=heavy))},
        **fields,
    )


def test_a_run_spent_on_tracing() -> None:
    (finding,) = run_spent_on_compiling(run(10.0, 40.0))
    assert "model.set_weights(start)" in finding.advice, "a model that is kept must not keep what it has learnt"
    assert (finding.basis, finding.severity, finding.share_of_step) == ("run", "low", 0.5)
    assert finding.gain.likely is None
    assert list(run_spent_on_compiling(run(10.0, 60.0))) == []


def test_avoidable_retraces_are_not_reported_again() -> None:
    given = run(10.0, 40.0, offers={"retrace": [AvoidableTracing(ms=9000.0)]})
    assert list(run_spent_on_compiling(given)) == []


KERAS = "from tensorflow import keras\nlayers = keras.layers\nx = trunk = keras.Input((9,))\n"
SIDE_BY_SIDE = [
    "heads = [layers.Dense(1, name=name)(trunk) for name in names]\n",
    "for name in names:\n    heads.append(layers.Dense(1)(trunk))\n",
    "heads = {name: layers.Conv1D(2, 3)(trunk) for name in names}\n",
]
OTHERS = [
    "for n in sizes:\n    x = layers.Dense(n)(x)\n",  # behind each other
    "outs = [layers.Dense(1)(part) for part in parts]\n",
    "outs = [layers.GRU(8)(trunk) for _ in range(9)]\n",  # its units need each other
    "outs = [make(n)(trunk) for n in sizes]\n",
]


@pytest.mark.parametrize(
    ("body", "told"), [*((body, True) for body in SIDE_BY_SIDE), *((body, False) for body in OTHERS)]
)
def test_layers_that_a_loop_makes_side_by_side_are_named_where_tracing_takes_the_run(body: str, told: bool) -> None:
    (finding,) = run_spent_on_compiling(run(10.0, 40.0, heavy=90, source=KERAS + body))
    assert ("layers that a loop makes" in finding.title) == told
    assert not told or "layers." in (KERAS + body).splitlines()[finding.where[0].line - 1]
    (few,) = run_spent_on_compiling(run(10.0, 40.0, heavy=12, source=KERAS + body))
    assert "layers that a loop makes" not in few.title


def test_the_iterations_of_other_work_may_be_longer_by_a_compilation() -> None:
    evidence = shapes(3, {1: 2000.0, 2: 1210.0, 4: 810.0}, compiles=2)
    evidence.work = Work(kind="loop", where=SourceSpan("train.py", 5), seconds=3.0, share_of_run=0.3, iterations=60)
    (finding,) = compiles_each_shape(evidence)
    assert finding.code == "CMP001", "the trace is of the steps, whatever compiled there"
    assert not list(compiles_again(evidence))
