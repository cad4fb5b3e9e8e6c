"""The prices of what graphs show, and repeated backward passes, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import make_evidence
from tfperfkit_rules.graph_gradients import repeated_gradients
from tfperfkit_rules.graph_ops import graph_findings
from tfprof_builder import brief, graphs, op, traced

from tfperfkit.model import Finding, Measurement, SourceSpan


def found(code: str, **values: float) -> Finding:
    return Finding(
        code=code, family="graph", title="t", severity="medium", share_of_step=0.0, predicted_speedup=None,
        where=(SourceSpan("train.py", 9),), advice="a",
        evidence=tuple(Measurement(name, value, "count", "run") for name, value in (values or {"n": 1.0}).items()),
    )


def priced(finding: Finding, *rows: Any, settings: Any = None, source: str = "", **fields: Any) -> Finding:
    evidence = make_evidence(
        parts_ms={"graph": 8.0, "python": 2.0}, settings=settings, source=source, wall_s=10.0,
        data={"tfprof": traced(*rows) if rows else {}, "ops": graphs(brief(**fields), found=(finding,))},
    )
    (result,) = graph_findings(evidence)
    return result


def test_float64_costs_its_part_of_the_flops() -> None:
    result = priced(found("OPS003"), op("MatMul", 50.0), float64_flops_share=0.5)
    assert result.share_of_step == pytest.approx(0.4)
    assert result.predicted_range == pytest.approx((1 / (1 - 0.08), 1 / (1 - 0.32)))


def test_floatx_is_the_place() -> None:
    source = "import keras\nkeras.backend.set_floatx('float64')\n"
    result = priced(found("OPS003"), op("MatMul", 50.0), float64_flops_share=1.0, settings={"floatx": "float64"},
                    source=source)
    assert [span.line for span in result.where] == [2, 9]


def test_float64_outside_of_the_step_is_not_priced() -> None:
    assert priced(found("OPS003"), op("MatMul", 50.0), float64_flops_share=1.0, graph="__inference_other_2"
                  ).predicted_speedup is None


@pytest.mark.parametrize(("code", "kind", "bounds"), [
    ("OPS004", "EagerPyFunc", (1 / (1 - 0.16), 1 / (1 - 0.4))),
    ("OPS006", "StringFormat", (1 / (1 - 0.2), 1 / (1 - 0.5))),
])
def test_calls_and_prints_cost_their_time_in_the_trace(code: str, kind: str, bounds: tuple[float, float]) -> None:
    assert priced(found(code), op(kind, 50.0), op("Mul", 50.0)).predicted_range == pytest.approx(bounds)
    assert priced(found(code), op("Mul", 50.0)).predicted_speedup is None


def test_an_unrolled_loop_costs_the_run_not_the_step() -> None:
    result = priced(found(
        "OPS001", operations_of_the_loop=400, operations=2000, operations_of_gradients=1200, trace_ms=3000,
        first_execution_ms=1000,
    ))
    assert (result.basis, result.predicted_speedup, result.severity) == ("run", None, "high")
    assert result.share_of_step == pytest.approx(0.2)


def test_a_constant_costs_no_more_than_its_function_took() -> None:
    large = {"constant_bytes": 100e6, "traces": 1.0}
    assert priced(found("OPS002", **large, trace_ms=500.0)).share_of_step == pytest.approx(0.05)
    assert priced(found("OPS002", **large, trace_ms=9000.0)).share_of_step == pytest.approx(0.2)
    # 10 s for 100 operations: what they need at most (2 s) left out, the rest is the constant's.
    assert priced(found("OPS002", **large, operations=100, trace_ms=10_000.0)).share_of_step == pytest.approx(0.8)
    small = priced(found("OPS002", constant_bytes=2e6, traces=1.0, trace_ms=9000.0))
    assert (small.basis, small.severity) == ("risk", "medium")


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
    line = {"forward_ms": 3.0, "backward_ms": backward_ms, "update_ms": 1.0}
    lines = {"graph_functions": [{"where": "step", "unattributed_ms": 0.0, "lines": [line]}]}
    evidence = make_evidence(parts_ms={"graph": 8.0, "python": 2.0}, source=source, data={"lines": lines})
    return list(repeated_gradients(evidence))


def test_a_gradient_for_each_term_in_a_loop() -> None:
    (finding,) = gradients(LOSSES)
    # 0.48 of the step goes backward, two thirds of it too much.
    assert finding.predicted_range == pytest.approx((1 / (1 - 0.3 * 0.32), 1 / (1 - 0.32)))
    assert [span.line for span in finding.where] == [7, 3]


def test_a_gradient_for_each_term_written_out() -> None:
    (finding,) = gradients(TWICE)
    assert finding.where[0].line == 5 and finding.share_of_step == pytest.approx(0.24)


@pytest.mark.parametrize("source", [GAN, SURGERY, LOSSES.replace("persistent=True", ""), LOSSES.replace("t + g", "g")])
def test_gradients_that_are_needed_are_none(source: str) -> None:
    assert gradients(source) == []


def test_cheap_gradients_are_none() -> None:
    assert gradients(LOSSES, backward_ms=0.05) == []
