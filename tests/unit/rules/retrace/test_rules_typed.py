"""Advice that can be typed: a number as a tensor, of the dtype that its uses want."""

from __future__ import annotations

from pathlib import Path

import pytest
from evidence_builder import FILE, make_evidence
from tfperfkit_probes.function_records import Argument
from tfperfkit_probes.retrace.model import Difference, Trace, TracedFunction
from tfperfkit_rules.retrace.advice import advise
from tfperfkit_rules.retrace.typed import _say_swaps, advice

from tfperfkit.model import SourceSpan
from tfperfkit.syntax.argument_uses import find_uses
from tfperfkit.syntax.module import Syntax, parse

IMPORTS = "import math\nimport tensorflow as tf\n"
CALL = "loss = step(x, 0.5 * i)"


def told(body: str, call: str = CALL, values: tuple[str, str] = ("298", "299"), dtype: str = "float32") -> str | None:
    source = f"@tf.function\ndef step(x, n):\n    {body}\n{call}\n{IMPORTS}"
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
    assert f"tf.constant(0.5 * i, tf.float32) instead of 0.5 * i at {Path(FILE).name}:4" in words


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
    syntax = parsed(source)
    step = next(item for item in syntax.functions if item.name == "step")
    assert find_uses(step, "n") == ((), (2,), (), ())
    assert find_uses(step, "r") == ((4,), (), (), ())
    other = parsed(source.replace("def loss", "def other"))
    assert find_uses(next(item for item in other.functions if item.name == "step"), "n") == ((6,), (), (), ())


def test_a_method_of_the_same_class_tells_its_use() -> None:
    source = (
        "class Model:\n    def fetch(self, name, i):\n        return self.columns[name][i]\n"
        "    def step(self, n, m):\n        return self.fetch('s1', n) + self.other(m)\n"
    )
    step = next(item for item in parsed(source).functions if item.name == "step")
    assert find_uses(step, "n") == ((), (3,), (), ())
    assert find_uses(step, "m") == ((5,), (), (), ())


def test_several_arguments_of_one_call_name_its_place_once() -> None:
    swaps = [("tf.constant(a)", "a", "t.py:4"), ("tf.constant(b)", "b", "t.py:4")]
    assert _say_swaps(["x", "n"], swaps) == "At t.py:4, pass x and n as tensors: tf.constant(a), tf.constant(b)."
    swaps[1] = ("tf.constant(b)", "b", "t.py:9")
    assert _say_swaps(["x", "n"], swaps).startswith("Pass x and n as tensors: tf.constant(a) instead of a at t.py:4, ")


def test_what_does_both_says_where_it_must_be_whole() -> None:
    words = told("return x[n] * n", "step(x, i)") or ""
    assert "tf.constant(i, tf.float32)" in words and "Line 3 needs an integer: tf.cast(n, tf.int32)" in words


def test_a_whole_number_that_is_only_compared_has_the_dtype_of_the_other_side() -> None:
    body = "_, y = tf.while_loop(lambda i, _: i < n, run, (tf.constant(0), x))\n    return y / tf.cast(n, x.dtype)"
    words = told(body, "step(x, i)") or ""
    assert ", dtype)" in words and "Line 3 compares n: dtype is that of the other side" in words
    assert ", tf.float32)" in (told("return x if n < 3 else -x", "step(x, i)") or "")


def test_several_such_lines_are_told_as_several() -> None:
    words = told("y = x[n] * n\n    return y[:n]", "step(x, i)") or ""
    assert "Lines 3 and 4 need an integer" in words


def test_how_often_a_loop_goes_round_is_a_whole_number() -> None:
    words = told("for _ in range(n):\n        x = x * 2.0\n    return x", "step(x, i)") or ""
    assert "tf.int32" in words and "only a Python number" not in words
    assert "only a Python number" in (
        told("return [x for _ in range(n)]", "step(x, i)") or ""
    )  # is no loop of the graph


def test_pythons_own_functions_are_named() -> None:
    assert "Line 3 takes only a Python number" in (told("return x * math.cos(n)") or "")


@pytest.mark.parametrize("values", [("True", "False"), ("'a'", "'b'"), ("None", "3")])
def test_what_is_no_number_is_left_to_words(values: tuple[str, str]) -> None:
    assert told("return x * n", values=values) is None


def test_a_name_in_the_indexed_value_is_computed_with() -> None:
    syntax = parsed("def f(x, n):\n    return (x * n)[0]")
    (definition,) = syntax.functions
    assert find_uses(definition, "n") == ((2,), (), (), ())


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        ("return tf.repeat(x, n)", True),
        ("return tf.reduce_sum(x, axis=n)", True),
        ("return tf.tile(n, [2])", False),  # the argument itself is computed with
        ("return scale(x, size=n)", False),  # another function's parameter of that name tells nothing
        ("return own.gather(x, n)", False),
    ],
)
def test_the_function_that_is_called_tells_not_its_name_or_a_parameter(body: str, counts: bool) -> None:
    words = told(body, "step(x, i)") or ""
    assert ("tf.constant(i, tf.int32)" in words) == counts


def test_a_string_for_tensorflows_functions_becomes_a_string_tensor() -> None:
    words = told("return tf.strings.join([x, shown(n)])", "step(x, tag)", ("'a'", "'b'"))
    assert words is None  # what ``shown`` does with it is unknown
    words = told("return tf.strings.regex_replace(x, n, '')", "step(x, tag)", ("'a'", "'b'")) or ""
    assert "tf.constant(tag) instead of tag" in words and "tf.float32" not in words


@pytest.mark.parametrize("body", ["return x if n == 'a' else -x", "return tables[n] + x", "return open(n)"])
def test_a_string_that_python_uses_is_left_to_words(body: str) -> None:
    assert told(body, values=("'a'", "'b'")) is None


@pytest.mark.parametrize("values", [("'a'", "'b'"), ("True", "False")])
def test_what_is_no_number_is_never_called_a_float(values: tuple[str, str]) -> None:
    cause = [Difference("n", *values, "value")]
    trace = Trace(number=2, kind="retrace", step=2, ms=1.0, self_ms=1.0, cause=cause, call_site=None)
    function = TracedFunction(function="step", file=FILE, line=1, owner="user", traces=[trace])
    assert "float32" not in advise("python_value", function, [trace])


def parsed(source: str) -> Syntax:
    syntax = parse(tuple(source.splitlines()))
    assert syntax is not None
    return syntax
