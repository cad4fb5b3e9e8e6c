"""The call that a line was making, from the sampled expression."""

from __future__ import annotations

import pytest

from tfperfkit.ledger.call_names import name_call
from tfperfkit.records.samples import Frame


def frame(expression: str, line: str, calls: tuple[str, ...] = ()) -> Frame:
    """Return a frame that is in this expression of its line."""
    begin = len(line[: line.index(expression)].encode())
    return Frame("train.py", 1, "main", 1, (1, 1, begin, begin + len(expression.encode())), calls)


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("self.model.export(folder, verbose=False)", "self.model.export"),
        ("time.sleep(0.02)", "time.sleep"),
        ("tf.data.Dataset.range(n + 1).map(f)", "tf.data.Dataset.range(…).map"),
        ("HEADS['age'](x)", "HEADS[]"),
        ("x + f(y)", ""),
        ("x[0]", ""),
        ("(lambda: 1)()", ""),
    ],
)
def test_the_function_is_named_as_the_user_wrote_it(expression: str, named: str) -> None:
    line = f"    ä = {expression}  # as it is"
    assert name_call(frame(expression, line), (line,)) == named


def test_a_call_over_several_lines_is_named_by_its_first() -> None:
    lines = ("total = numpy.sum(", "    rows)")
    assert name_call(Frame("train.py", 1, "main", 1, (1, 2, 8, 9), ()), lines) == "numpy.sum"


def test_without_source_the_library_function_is_named() -> None:
    seen = Frame("train.py", 1, "main", 1, None, ("tensorflow.python.ops.math_ops:matmul",))
    assert name_call(seen, ()) == "tensorflow's matmul"
    assert name_call(seen._replace(calls=()), ()) == ""
