"""STP009 and CMP006: several steps in one call, XLA for many small operations; silent where they gain nothing."""

from __future__ import annotations

from computed_builder import compiled, ran
from eager_builder import site, sites
from evidence_builder import make_samples
from tfperfkit_rules.compile.launching import launching
from tfperfkit_rules.step.joined_steps import several_steps

from tfperfkit.offers import Pipelines
from tfperfkit.records.samples import Frame

FIT = "model.compile('adam')\nmodel.fit(x, y)\n"
LOOP = "for x, y in data:\n    train(x, y)\n"
CALL = "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"
SUMMARY = "keras.src.models.model:summary"
WORK = ran("MatMul", 1.0, flops=90e6)


def test_fit_that_calls_for_each_step_is_offered_several() -> None:
    (finding,) = several_steps(compiled((WORK,), source=FIT, records=sites(site(1, "batch", 2))))
    assert finding.headroom and "model.compile(..., steps_per_execution=32)" in finding.advice
    assert finding.where[0].line == 2
    assert finding.gain.bounds is not None and finding.gain.bounds[0] > 1.1


def test_a_loop_of_ones_own_is_offered_a_function_around_it() -> None:
    given = compiled((WORK,), source=LOOP, records=sites(site(1, "call", 2)))
    (finding,) = several_steps(given)
    assert "@tf.function" in finding.advice and "stack them" in finding.advice  # no dataset was seen
    there = Pipelines(iterated=True, feeds_steps=True)
    given = compiled((WORK,), source=LOOP, records=sites(site(1, "call", 2)), more=(there,))
    (finding,) = several_steps(given)
    assert "dataset.take(32)" in finding.advice


def test_ones_own_python_is_not_taken_for_calling() -> None:
    given = compiled((WORK,), source=LOOP, records=sites(site(1, "call", 2)), part="python")
    assert not list(several_steps(given))


def _at(called: str) -> Frame:
    return Frame("/t.py", "f", 2, 2, calls=(called,))


def test_other_python_of_keras_is_not_taken_for_calling() -> None:
    """Call a model's summary() in each step, which is Python of Keras, too."""
    seen = [(30, "dispatch", [_at(SUMMARY)]), (2, "dispatch", [_at(CALL)])]
    given = compiled((WORK,), source=LOOP, records=sites(site(1, "call", 2)), samples=make_samples(seen))
    assert not list(several_steps(given))
    calling = make_samples([(30, "dispatch", [_at(CALL)])])
    assert list(several_steps(compiled((WORK,), source=LOOP, records=sites(site(1, "call", 2)), samples=calling)))


def test_what_is_traced_is_not_calling() -> None:
    """It comes with functions and shapes, not with steps."""
    assert not list(several_steps(compiled((WORK,), source=FIT, records=sites(site(1, "batch", 2)), part="tracing")))


def test_a_long_step_gains_nothing() -> None:
    assert not list(several_steps(compiled((ran("Conv2D", 50.0),), source=FIT, records=sites(site(1, "batch", 2)))))


def test_many_small_operations_are_offered_xla() -> None:
    small = tuple(ran("Mul", 0.004, runs=2) for _ in range(100))
    (finding,) = launching(compiled(small, idle_ms=2.0, source=FIT, records=sites(site(1, "batch", 2))))
    assert finding.code == "CMP006" and finding.headroom
    assert "jit_compile=True" in finding.advice and "220" in finding.title


def test_products_and_short_gaps_are_not() -> None:
    heavy = compiled((ran("MatMul", 5.0, flops=90e6),), idle_ms=3.0, source=FIT, records=sites(site(1, "batch", 2)))
    assert not list(launching(heavy))
    calm = compiled((ran("Mul", 1.0),), idle_ms=0.2, source=FIT, records=sites(site(1, "batch", 2)))
    assert not list(launching(calm))
