"""Advice that can be typed: a number as a tensor, of the dtype that its uses want."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from evidence_builder import FILE, make_evidence
from tfperfkit_probes.function_records import Argument
from tfperfkit_probes.retrace.model import Difference, Trace, TracedFunction
from tfperfkit_rules.retrace.typed import advice, uses_of

from tfperfkit.model import SourceSpan

CALL = "loss = step(x, 0.5 * i)"


def told(body: str, call: str = CALL, values: tuple[str, str] = ("298", "299"), dtype: str = "float32") -> str | None:
    source = f"@tf.function\ndef step(x, n):\n    {body}\n{call}\n"
    given = Trace(
        number=2,
        kind="retrace",
        step=2,
        ms=1.0,
        self_ms=1.0,
        cause=[Difference("n", *values, "value")],
        call_site=SourceSpan(FILE, 4, "<module>"),
        arguments=[Argument("x", "x", "tensor", dtype, [4])],
    )
    function = TracedFunction(function="step", file=FILE, line=1, owner="user", traces=[given])
    return advice(make_evidence(source=source), function, [given], ["n"])


def test_a_whole_number_that_is_computed_with_becomes_a_float() -> None:
    words = told("return x * tf.cos(3.14159 * n)")
    assert words is not None
    assert f"at {Path(FILE).name}:4 tf.constant(0.5 * i, tf.float32) in place of 0.5 * i" in words


def test_the_other_arguments_tell_which_float() -> None:
    assert "tf.float64" in (told("return x * n", dtype="float64") or "")


@pytest.mark.parametrize(
    "body",
    [
        "return x[n % 4]",
        "return tf.one_hot(n, 8)",
        "return tf.gather(x, n)",
        "return tf.TensorArray(tf.float32, size=n)",
        "return tf.zeros([n, 4])",
        "return tf.math.unsorted_segment_sum(x, y, num_segments=n)",
    ],
)
def test_what_only_selects_stays_whole(body: str) -> None:
    assert "tf.constant(i, tf.int32)" in (told(body, "step(x, n=i)") or "")


def test_a_function_that_it_is_handed_to_tells_its_use() -> None:
    source = (
        "def pick(x, at):\n    return x[:, at]\ndef loss(x, which, rate=1.0):\n    return pick(x, which) * rate\n"
        "def step(x, n, r):\n    return loss(x, n, rate=r)\n"
    )
    module = ast.parse(source)
    step = next(item for item in module.body if isinstance(item, ast.FunctionDef) and item.name == "step")
    assert uses_of(step, "n", module) == ((), (2,), ())
    assert uses_of(step, "r", module) == ((4,), (), ())
    assert uses_of(step, "n") == ((6,), (), ())


def test_what_does_both_says_where_it_must_be_whole() -> None:
    words = told("return x[n] * n", "step(x, i)") or ""
    assert "tf.constant(i, tf.float32)" in words and "line 3 needs it whole: tf.cast(n, tf.int32)" in words


def test_several_such_lines_are_told_as_several() -> None:
    words = told("y = x[n] * n\n    return y[:n]", "step(x, i)") or ""
    assert "lines 3 and 4 need it whole" in words


def test_how_often_a_loop_goes_round_is_a_whole_number() -> None:
    words = told("for _ in range(n):\n        x = x * 2.0\n    return x", "step(x, i)") or ""
    assert "tf.int32" in words and "Python's own" not in words
    assert "Python's own" in (told("return [x for _ in range(n)]", "step(x, i)") or "")  # is no loop of the graph


def test_pythons_own_functions_are_named() -> None:
    assert "line 3 takes Python's own number only" in (told("return x * math.cos(n)") or "")


@pytest.mark.parametrize("values", [("True", "False"), ("'a'", "'b'"), ("None", "3")])
def test_what_is_no_number_is_left_to_words(values: tuple[str, str]) -> None:
    assert told("return x * n", values=values) is None


def test_a_name_in_the_indexed_value_is_computed_with() -> None:
    (definition,) = ast.parse("def f(x, n):\n    return (x * n)[0]").body
    assert isinstance(definition, ast.FunctionDef)
    assert uses_of(definition, "n") == ((2,), (), ())
