"""The rule about tensors made of lists, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE
from tfperfkit_rules.eager.python_lists import made_of_lists
from work_builder import frame, sampled, work_evidence

from tfperfkit.records.samples import Samples

CONSTANT = "tensorflow.python.ops.weak_tensor_ops:wrapper"


def looped(made: str, call: str = "tf.constant(rows)", share: int = 60, iterations: int = 1000, more: str = "") -> Any:
    source = (
        f"import json\nimport numpy as np\nimport tensorflow as tf\nfor body in log:\n    {made}\n    {call}\n    f()\n"
    ) + more
    stacks = [
        sampled(share, "dispatch", frame(6, CONSTANT, span=(4, 4 + len(call)))),
        sampled(100 - share, "python", frame(7)),
    ]
    return work_evidence(source, stacks, loop=4, iterations=iterations)


@pytest.mark.parametrize(
    "made", ["rows = [a, b]", "rows = list(body)", "rows = json.loads(body)['rows']", "rows = [f(i) for i in body]"]
)
def test_a_list_that_the_source_tells_is_named_at_the_call(made: str) -> None:
    (finding,) = made_of_lists(looped(made))
    assert finding.code == "EAG016" and finding.where[0].file == FILE and finding.where[0].line == 6
    assert finding.title.startswith("tf.constant converts") and "numpy.stack" in finding.advice
    assert "float64" in finding.advice, "an array of Python floats has another dtype than a tensor of them"
    low, high = finding.gain.bounds or (0, 0)
    assert 1.4 < low < high < 3.5


@pytest.mark.parametrize(
    "made",
    [
        "rows = [tf.exp(i) for i in body]",
        "rows = []; rows.append(tf.pad(body, [[1, 1]])[1:] * 2)",
        "a = tf.pad(body, [[1, 1]]); b = a[1:]; rows = [a, b]",
    ],
)
def test_a_list_of_tensors_is_joined_by_one_operation(made: str) -> None:
    assert list(made_of_lists(looped(made, "tf.stack(rows)"))) == []
    assert list(made_of_lists(looped(made.replace("tf.", "np."), "tf.stack(rows)")))


@pytest.mark.parametrize(
    "more",
    [
        "def g(body):\n    return json.loads(body)['rows']\n",
        "class S:\n    def g(self, body):\n        return self.h(body)\n"
        "    def h(self, body):\n        return [body, body]\n",
    ],
)
def test_a_list_that_a_function_returns(more: str) -> None:
    (finding,) = made_of_lists(looped("rows = g(body)", more=more))
    assert finding.where[0].line == 6


UNPACKED = """\
def take():
    keys, found = [], []
    while waiting():
        key, item = get()
        keys.append(key)
        found.append(item)
    return keys, found
"""


def test_a_list_that_is_unpacked_from_what_a_function_returns() -> None:
    made = "keys, rows = take()"
    (finding,) = made_of_lists(looped(made, "tf.convert_to_tensor(value=rows, dtype=tf.float32)", more=UNPACKED))
    assert finding.where[0].line == 6
    for more in (
        UNPACKED.replace("return keys, found", "return keys, np.stack(found)"),
        UNPACKED.replace("return keys, found", "return keys, found, 1"),
        UNPACKED.replace("key, item = get()", "key = get()\n        item = tf.exp(key)"),
    ):
        assert not list(made_of_lists(looped(made, "tf.convert_to_tensor(rows)", more=more)))


@pytest.mark.parametrize(("share", "told"), [(60, 1), (4, 0)])
def test_few_samples_in_the_clean_iterations_leave_those_of_the_whole_work(share: int, told: int) -> None:
    given = looped("rows = [a, b]", share=share)
    few = given.narrowed(work=given.work, steps=given.steps, account=given.account, samples=Samples(), log=given.log)
    found = list(made_of_lists(few))
    assert len(found) == told
    assert all(0.5 < item.share_of_step < 0.7 for item in found)


def test_a_list_that_a_function_is_given() -> None:
    source = "import tensorflow as tf\nclass S:\n    def make(self, rows):\n        return tf.constant(rows)\n"
    source += "for body in log:\n    s.make([f(item) for item in body])\n"
    called = frame(6), frame(4, CONSTANT, name="make", span=(15, 32))
    for text, told in ((source, 1), (source.replace("[f(item) for item in body]", "body"), 0)):
        given = work_evidence(text, [sampled(60, "dispatch", *called), sampled(40, "python", frame(6))], loop=5)
        assert len(list(made_of_lists(given))) == told


def test_lists_of_numbers_are_for_constant() -> None:
    (finding,) = made_of_lists(looped("rows = json.loads(body)", "tf.convert_to_tensor(rows)"))
    assert "tf.constant" in finding.advice and finding.title.startswith("tf.convert_to_tensor")


def test_rows_of_different_length_are_gone_through_whatever_holds_them() -> None:
    (finding,) = made_of_lists(looped("rows = g(body)", "tf.ragged.constant(rows)"))
    assert finding.title.startswith("tf.ragged.constant converts") and "from_row_lengths" in finding.advice


@pytest.mark.parametrize(
    ("made", "fields"),
    [
        ("rows = np.asarray(body)", {}),
        ("rows = g(body)", {}),  # nobody knows
        ("rows = [a, b]", {"call": "tf.square(rows)"}),
        ("rows = [a, b]", {"share": 5}),
        ("rows = [a, b]", {"iterations": 60_000}),  # 0.1 ms each: any tensor's
    ],
)
def test_arrays_what_is_not_known_and_short_calls_are_left_in_peace(made: str, fields: Any) -> None:
    assert not list(made_of_lists(looped(made, **fields)))


def test_where_no_loop_makes_the_tensor_none_is_spoken_of() -> None:
    source = "import tensorflow as tf\nrows = [f(a), f(b)]\nx = tf.constant(rows)\n"
    stacks = [sampled(60, "dispatch", frame(3, CONSTANT, span=(4, 21))), sampled(40, "python", frame(2))]
    (finding,) = made_of_lists(work_evidence(source, stacks, call=3))
    assert "numpy.stack" in finding.advice and "loop" not in finding.advice
    (finding,) = made_of_lists(looped("rows = [a, b]"))
    assert "before the loop" in finding.advice


def test_a_comprehension_that_makes_the_list_is_no_loop_around_the_call() -> None:
    line = "x = tf.constant([f(a) for a in rows])"
    stacks = [sampled(60, "dispatch", frame(2, CONSTANT, span=(4, len(line)))), sampled(40, "python", frame(1))]
    (finding,) = made_of_lists(work_evidence(f"import tensorflow as tf\n{line}\n", stacks, call=2))
    assert "numpy.stack" in finding.advice and "loop" not in finding.advice
