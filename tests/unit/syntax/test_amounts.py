"""How many rows an expression has, by the source."""

from __future__ import annotations

import pytest

from tfperfkit.syntax.amounts import count_rows
from tfperfkit.syntax.module import parse

HEAD = "import numpy as np\nimport tensorflow as tf\nrng = np.random.default_rng(0)\nN = 6000\n"


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ("x = rng.normal(size=(6000, 20)).astype('float32')", 6000),
        ("x = np.zeros((N, 3))", 6000),
        ("x = np.arange(24_000)", 24000),
        ("x = tf.random.normal([N, 8])", 6000),
        ("x = np.asarray(rng.random((N, 2)))", 6000),
        ("y = load()\nx = y[:N]", 6000),
        ("x = range(N)", 6000),
        ("x = load()", None),
        ("x = np.zeros((M, 3))", None),
        ("x = np.zeros(N)\nx = np.zeros(7)", None),
        ("N = 7\nx = np.zeros(N)", None),
        ("y = load()\nx = y[N:]", None),
        ("x = np.arange(N, M)", None),
        ("x = y\ny = x", None),
    ],
)
def test_rows_are_counted_where_each_value_says_the_same(lines: str, rows: int | None) -> None:
    syntax = parse(tuple(f"{HEAD}{lines}\nuse(x)".splitlines()))
    assert syntax is not None
    (call,) = syntax.find_calls("use")
    assert count_rows(call.arguments[0]) == rows
