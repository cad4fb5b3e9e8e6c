"""Causes in graphs, with their price, and repeated backward passes, on made-up evidence."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from computed_builder import ran
from evidence_builder import FILE, make_evidence
from tfperfkit_probes.ops.model import Constant, Control, GraphLoop, Marked, Marks, SideEffect
from tfperfkit_rules.graph import RULES
from tfperfkit_rules.graph.big_constants import big_constants
from tfperfkit_rules.graph.float64 import float64
from tfperfkit_rules.graph.gradients import repeated_gradients
from tfprof_builder import brief, graphs, op, traced

from tfperfkit.model import Finding, SourceSpan, Work
from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.records.samples import Frame, Samples, Stack


def judged(*rows: Any, settings: Any = None, source: str = "", **fields: Any) -> list[Finding]:
    """Return the rules' findings on one function of 1 GFLOP, whose step is 8 of 10 ms in compiled functions."""
    evidence = make_evidence(
        parts_ms={"graph": 8.0, "python": 2.0},
        settings=settings,
        source=source,
        wall_s=10.0,
        data={"tfprof": traced(*rows) if rows else {}, "ops": graphs(brief(**fields))},
    )
    return [finding for rule in RULES for finding in rule(evidence)]


def one(*rows: Any, **given: Any) -> Finding:
    (finding,) = judged(*rows, **given)
    return finding


HERE = SourceSpan("train.py", 9)
WIDE = Marks(float64=[Marked(type="MatMul", ops=3, where=HERE)])


def test_float64_costs_its_part_of_the_flops() -> None:
    result = one(op("MatMul", 50.0), float64_flops_share=0.5, marks=WIDE)
    assert result.code == "OPS003" and result.share_of_step == pytest.approx(0.4)
    assert result.gain.bounds == pytest.approx((1 / (1 - 0.08), 1 / (1 - 0.32)))
    assert judged(op("MatMul", 50.0), float64_flops_share=0.01, marks=WIDE) == []


def test_floatx_is_the_place() -> None:
    source = "import keras\nkeras.backend.set_floatx('float64')\n"
    floatx = {"floatx": "float64"}
    result = one(op("MatMul", 50.0), float64_flops_share=1.0, marks=WIDE, settings=floatx, source=source)
    assert [span.line for span in result.where] == [2, 9, 5]
    assert result.advice.startswith("Remove set_floatx('float64')")


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        ("import tensorflow as tf\ndtype = tf.float64\n", True),
        ("import tensorflow as tf\nx = tf.zeros([3], dtype='float64')\n", True),
        ("import numpy as np\nx = np.zeros(3, dtype=np.float64)\n", False),
        ("import tensorflow as tf\nif x.dtype == tf.float64:\n    x = tf.cast(x, tf.float32)\n", False),
    ],
)
def test_float64_that_the_script_asks_for_is_a_choice(source: str, asked: bool) -> None:
    result = one(op("MatMul", 50.0), float64_flops_share=1.0, marks=WIDE, source=source)
    assert (result.headroom, result.severity == "info") == (asked, asked)
    assert result.gain.likely is not None and (asked is result.advice.endswith("scientific code may need."))


def test_copies_gain_half_from_float32() -> None:
    products = one(op("MatMul", 50.0), op("Tile", 10.0), float64_flops_share=1.0, marks=WIDE)
    copies = one(op("MatMul", 10.0), op("Tile", 50.0), float64_flops_share=1.0, marks=WIDE)
    assert products.gain.likely is not None and copies.gain.likely is not None
    assert copies.gain.likely < products.gain.likely


def test_where_float64_begins_is_the_place() -> None:
    start = Marked(type="Const", ops=1, where=SourceSpan("train.py", 7), types="float64[8]")
    library = Marked(type="Cast", ops=1, where=SourceSpan("keras/ops.py", 3), types="float64[8]")
    marks = msgspec.structs.replace(WIDE, float64_sources=[library, start], float64_arguments=["x"])
    result = one(op("MatMul", 50.0), float64_flops_share=0.5, marks=marks, source="x = 1\n")
    assert [span.line for span in result.where] == [7, 9, 5]
    assert result.detail == "The argument x is float64. float64 begins at Const (float64[8])."


@pytest.mark.parametrize(
    ("made", "line"),
    [
        ("w = tf.Variable(rng.normal(size=(8, 8)) * 0.1)", 2),
        ("w = tf.constant(array)", 2),
        ("w = tf.constant([1.0, 2.0], tf.float64)", 2),
        ("w = tf.Variable(array, dtype='float32')", 9),
        ("w = tf.Variable(tf.zeros([8, 8]))", 9),
        ("w = tf.Variable(0.1)", 9),
        ("w = make(array)", 9),
    ],
)
def test_where_what_a_function_reads_is_made_is_the_place_of_its_float64(made: str, line: int) -> None:
    source = f"import tensorflow as tf\n{made}\n\n\n\n\n\ndef train_step(x):\n    return x @ w\n"
    result = one(op("MatMul", 50.0), float64_flops_share=1.0, marks=WIDE, source=source, line=8)
    assert result.where[0].line == line


def test_float64_outside_of_the_step_is_not_priced() -> None:
    result = one(op("MatMul", 50.0), float64_flops_share=1.0, graph="__inference_other_2", marks=WIDE)
    assert result.gain.likely is None


@pytest.mark.parametrize("solves", [False, True])
def test_float64_in_a_loop_that_predicts_is_priced_by_the_samples_at_the_call(solves: bool) -> None:
    """Three of four samples are in the compiled function of ``predict``, which the report calls as the script does.
    If it decomposes a matrix, and no trace tells for how long, the digits may be needed."""
    solved = [Marked(type="Cholesky", ops=1, where=HERE)] if solves else []
    call = Frame(FILE, 1, "<module>", 7)
    samples = Samples()
    for number in range(40):
        samples.add(Stack((call,), "keras", "python" if number % 4 == 0 else "graph", "evaluate"))
    function = brief(
        function="one_step_on_data",
        owner="keras",
        float64_flops_share=1.0,
        marks=msgspec.structs.replace(WIDE, float64=[*WIDE.float64, *solved]),
        callers=[SourceSpan(FILE, 7)],
    )
    run = make_evidence(
        parts_ms={"evaluate": 10.0},
        samples=samples,
        source="import keras\n\n\n\n\n\nprobabilities = net.predict(tiles)\n",
        data={"ops": graphs(function)},
    )
    work = Work(kind="loop", where=SourceSpan(FILE, 6), seconds=9.0, share_of_run=0.9, iterations=None)
    evidence = run.narrowed(work=work, steps=run.steps, account=run.account, samples=samples, log=run.log)
    (result,) = float64(evidence)
    assert result.title.startswith("net.predict computes 100 % of its FLOPs in float64")
    if solves:
        assert (result.severity, result.gain.bounds) == ("info", None)
        return
    assert result.share_of_step == pytest.approx(0.75)
    assert result.gain.bounds == pytest.approx((1 / (1 - 0.15), 1 / (1 - 0.6)))
    open_sizes = msgspec.structs.replace(function, flops_note="5 operations of open size are not counted")
    unknown = make_evidence(parts_ms={"evaluate": 10.0}, samples=samples, data={"ops": graphs(open_sizes)})
    of_work = unknown.narrowed(work=work, steps=run.steps, account=run.account, samples=samples, log=run.log)
    assert [item.severity for item in float64(of_work)] == ["info"]


def test_float64_of_many_operations_on_few_numbers_is_not_what_they_cost() -> None:
    tiny = brief(float64_flops_share=1.0, marks=WIDE, operations=20_000, flops=1e5, moved_bytes=1e5)
    evidence = make_evidence(
        parts_ms={"graph": 8.0, "python": 2.0}, data={"tfprof": traced(op("MatMul", 50.0)), "ops": graphs(tiny)}
    )
    (found,) = [item for rule in RULES for item in rule(evidence) if item.code == "OPS003"]
    assert found.share_of_step < 0.01


def test_float64_is_priced_where_the_step_calls_it_alone() -> None:
    """Compute in float64 once, before the training: that costs the step nothing."""
    once = brief(function="evidence_lower_bound", line=20, graph="__inference_once_3", float64_flops_share=1.0)
    there = [Marked(type="MatMul", ops=3, where=SourceSpan("a.py", 3))]
    once = msgspec.structs.replace(once, marks=Marks(float64=there))
    each = brief(float64_flops_share=1.0, marks=WIDE)
    evidence = make_evidence(
        parts_ms={"graph": 8.0, "python": 2.0},
        wall_s=10.0,
        data={"tfprof": traced(op("MatMul", 50.0)), "ops": graphs(each, once)},
    )
    found = {item.title.partition(" ")[0]: item for rule in RULES for item in rule(evidence)}
    assert found["train_step"].share_of_step == pytest.approx(0.8)
    assert found["evidence_lower_bound"].gain.likely is None


def test_float64_for_decompositions_is_a_remark() -> None:
    rows = (op("MatrixInverse", 30.0), op("MatMul", 10.0))
    (result,) = (row for row in judged(*rows, float64_flops_share=1.0, marks=WIDE) if row.code == "OPS003")
    assert result.gain.likely is None and "too few digits" in result.advice
    rows = (op("MatrixInverse", 10.0), op("MatMul", 40.0))
    (result,) = (row for row in judged(*rows, float64_flops_share=1.0, marks=WIDE) if row.code == "OPS003")
    assert result.gain.likely is not None


@pytest.mark.parametrize(("of", "remark"), [("inverse", True), ("product", False)])
def test_products_in_the_gradient_of_a_decomposition_are_of_it(of: str, remark: bool) -> None:
    rows = (
        ComputedOperation(name="inverse", type="MatrixInverse", stage="forward", runs=1, ms=2.0, busy_ms=2.0),
        ComputedOperation(name="gradient/a", type="MatMul", stage="backward", runs=1, ms=6.0, busy_ms=6.0, of=of),
    )
    step = ComputedStep(ms=8.0, idle_ms=0.0, waits_ms=0.0, unknown_ms=0.0, operations=rows)
    trace = traced(op("MatrixInverse", 2.0), op("MatMul", 6.0))
    evidence = make_evidence(
        parts_ms={"graph": 8.0, "python": 2.0},
        data={"tfprof": trace, "ops": graphs(brief(float64_flops_share=1.0, marks=WIDE))},
        offers={"lines": (step,)},
    )
    (found,) = float64(evidence)
    assert (found.gain.likely is None) is remark


@pytest.mark.parametrize(("target", "told"), [("r[i]", True), ("loss(i)", False)])
def test_an_unrolled_loop_that_takes_a_gradient_for_each_number_is_a_jacobian(target: str, told: bool) -> None:
    source = (
        "import tensorflow as tf\ndef f(p):\n    with tf.GradientTape(persistent=True) as tape:\n        r = g(p)\n"
    )
    source += f"    for i in range(300):\n        rows.append(tape.gradient({target}, p))\n"
    marks = Marks(
        unrolled=[Control(file=FILE, line=5, statement="for", function="f", became="unrolled", ops=6600, copies=300)]
    )
    (result,) = (each for each in judged(operations=9000, marks=marks, source=source) if each.code == "OPS001")
    assert ("tape.jacobian(r, p)" in result.advice) is told


CALLS = Marks(python_calls=[Marked(type="EagerPyFunc", ops=2, where=HERE)])
PRINTS = Marks(prints=[Marked(type="PrintV2", ops=1, where=HERE)], asserts=[Marked(type="Assert", ops=2, where=HERE)])


@pytest.mark.parametrize(
    ("code", "kind", "marks", "bounds"),
    [
        ("OPS004", "EagerPyFunc", CALLS, (1 / (1 - 0.16), 1 / (1 - 0.4))),
        ("OPS006", "StringFormat", PRINTS, (1 / (1 - 0.2), 1 / (1 - 0.5))),
    ],
)
def test_calls_and_prints_cost_their_time_in_the_trace(
    code: str, kind: str, marks: Marks, bounds: tuple[float, float]
) -> None:
    result = one(op(kind, 50.0), op("Mul", 50.0), marks=marks, source="x = 1\n")
    assert (result.code, result.where[0]) == (code, HERE)
    assert result.gain.bounds == pytest.approx(bounds)
    assert one(op("Mul", 50.0), marks=marks, source="x = 1\n").gain.likely is None


def test_a_loop_that_calls_python_in_each_turn_is_reported_by_the_call() -> None:
    """Its iterations can't be compiled or taken together, and Python takes their time: GRF005 is silent."""
    iterations = GraphLoop(
        name="while",
        where=msgspec.structs.replace(HERE, line=HERE.line - 1),
        turns=2000,
        goes=1.0,
        operations=10.0,
        flops=30.0,
        elements=40.0,
        measured=True,
    )
    source = "\n" * (HERE.line - 2) + "for _ in tf.range(n):\n    step(x)\n"
    marks = msgspec.structs.replace(CALLS, loops=[iterations])
    result = one(op("EagerPyFunc", 50.0), op("Mul", 50.0), marks=marks, source=source)
    assert result.code == "OPS004" and "2 times in each iteration of a loop" in result.title
    assert "several elements" in result.advice


def test_checks_of_a_library_are_not_the_persons() -> None:
    assert judged(op("Assert", 50.0), marks=PRINTS, source={}) == []


def test_what_runs_only_while_tracing_is_a_remark() -> None:
    effect = SideEffect(file="train.py", line=6, function="step", what="print", text="print(x)")
    result = one(marks=Marks(side_effects=[effect]))
    assert (result.code, result.severity, result.detail) == ("OPS005", "info", "train.py:6  print(x)")
    assert judged(marks=Marks(side_effects=[effect]), owner="tensorflow") == []


def loop(ops: int, copies: int, **fields: Any) -> Control:
    given = {"file": "train.py", "line": 3, "statement": "for", "function": "step", "became": "unrolled"}
    return Control(**{**given, "ops": ops, "copies": copies, **fields})


def test_an_unrolled_loop_costs_the_run_not_the_step() -> None:
    result = one(
        operations=3000,
        gradient_operations=500,
        trace_ms=3000.0,
        first_execution_ms=1000.0,
        marks=Marks(unrolled=[loop(1250, 500)]),
    )
    assert (result.code, result.where[0].line) == ("OPS001", 3)
    assert result.basis == "run" and result.gain.bounds == pytest.approx((1 / 0.9, 1 / 0.8))
    assert result.share_of_step == pytest.approx(0.2)
    assert "unrolled into 1,250 operations" in result.title


@pytest.mark.parametrize(
    "found",
    [loop(999, 333), loop(5000, 63), loop(5000, 500, per_variable=True)],
    ids=["few operations", "few iterations of a large body", "a loop over layers"],
)
def test_loops_that_may_be_unrolled(found: Control) -> None:
    assert judged(operations=9000, marks=Marks(unrolled=[found])) == []


def test_of_nested_loops_the_outer_one_is_reported() -> None:
    marks = Marks(unrolled=[loop(5000, 100), loop(4000, 400, line=4)])
    assert one(operations=9000, marks=marks).where[0].line == 3


def constant(size: float, **fields: Any) -> dict[str, Any]:
    return {"marks": Marks(constants=[Constant(name="c", type="float32[9]", bytes=int(size), where=HERE)]), **fields}


def test_a_constant_costs_no_more_than_its_function_took() -> None:
    given = {"first_execution_ms": 0.0, "operations": 0}
    assert one(**constant(100e6, trace_ms=500.0, **given)).share_of_step == pytest.approx(0.05)
    assert one(**constant(100e6, trace_ms=9000.0, **given)).share_of_step == pytest.approx(0.07)
    # 10 s for 100 operations: what they need at most (2 s) left out, the rest is the constant's.
    slow = one(**constant(100e6, trace_ms=10_000.0, first_execution_ms=0.0, operations=100))
    assert slow.share_of_step == pytest.approx(0.8)
    small = one(**constant(2e6, trace_ms=9000.0, **given))
    assert (small.basis, small.severity) == ("risk", "info")
    assert judged(**constant(1e6)) == []


def test_each_function_that_runs_by_itself_pays_for_its_copy() -> None:
    functions = [
        brief(**constant(100e6, operations=30, trace_ms=400.0, first_execution_ms=100.0)),
        brief(**constant(100e6, operations=20, trace_ms=300.0, first_execution_ms=200.0)),
        brief(**constant(100e6, operations=10, trace_ms=300.0, first_execution_ms=None)),  # inside the others
    ]
    (result,) = big_constants(make_evidence(parts_ms={"graph": 8.0}, wall_s=10.0, data={"ops": graphs(*functions)}))
    assert result.share_of_step == pytest.approx(0.1)
    assert {item.name: item.value for item in result.evidence}["operations"] == 50


LOSSES = """
def step(x):
    with tf.GradientTape(persistent=True) as tape:
        a, b, c = losses(x)
    total = zeros
    for term in (a, b, c):
        grads = tape.gradient(term, variables)
        total = [t + g for t, g in zip(total, grads)]
    optimizer.apply(total)
"""
TWICE = """
def step(x):
    with tf.GradientTape(persistent=True) as t:
        a, b = losses(x)
    one = t.gradient(a, variables)
    two = t.gradient(b, variables)
    optimizer.apply([x + y for x, y in zip(one, two)])
"""
GAN = TWICE.replace("(b, variables)", "(b, others)")
SURGERY = TWICE.replace("x + y", "x + y - tf.tensordot(x, y, 1)")


def gradients(source: str, backward_ms: float = 6.0) -> list[Finding]:
    rows = (ran("MatMul", 3.0), ran("MatMul", backward_ms, "backward"), ran("Mul", 1.0, "update"))
    step = ComputedStep(ms=4.0 + backward_ms, idle_ms=0.0, waits_ms=0.0, unknown_ms=0.0, operations=rows)
    evidence = make_evidence(parts_ms={"graph": 8.0, "python": 2.0}, source=source, offers={"lines": [step]})
    return list(repeated_gradients(evidence))


def test_a_gradient_for_each_term_in_a_loop() -> None:
    (finding,) = gradients(LOSSES)
    # 0.48 of the step goes backward, two thirds of it too much.
    assert finding.gain.bounds == pytest.approx((1 / (1 - 0.3 * 0.32), 1 / (1 - 0.32)))
    assert [span.line for span in finding.where] == [7, 3]


def test_a_gradient_for_each_term_written_out() -> None:
    (finding,) = gradients(TWICE)
    assert finding.where[0].line == 5 and finding.share_of_step == pytest.approx(0.24)


@pytest.mark.parametrize("source", [GAN, SURGERY, LOSSES.replace("persistent=True", ""), LOSSES.replace("t + g", "g")])
def test_gradients_that_are_needed_are_none(source: str) -> None:
    assert gradients(source) == []


def test_cheap_gradients_are_none() -> None:
    assert gradients(LOSSES, backward_ms=0.05) == []
