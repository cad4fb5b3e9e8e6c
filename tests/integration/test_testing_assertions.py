"""The assertions for people's own tests, on a real TensorFlow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.testing import assert_compiled, assert_no_retrace, max_ops, watch_traces

tf: Any = None


@pytest.fixture(autouse=True, scope="module")
def _tensorflow() -> None:
    """Imported as the tests run, not as they are collected: every worker collects them, one runs them."""
    global tf
    tf = pytest.importorskip("tensorflow")


@pytest.fixture
def double():  # type: ignore[no-untyped-def]
    @tf.function
    def double(x):  # type: ignore[no-untyped-def]
        return x * 2

    return double


def test_first_traces_are_no_retraces(double) -> None:  # type: ignore[no-untyped-def]
    x = tf.ones([3])
    with assert_no_retrace() as traces:
        for _ in range(3):
            double(x)
    (name,) = traces.counts
    assert name.startswith("double (") and name.endswith(f"{Path(__file__).name}:26)")


def test_a_retrace_is_named_with_its_cause(double) -> None:  # type: ignore[no-untyped-def]
    said = r"(?s)traced again inside:.*double \(.*: 2 more"
    with pytest.raises(AssertionError, match=said) as caught, assert_no_retrace():
        for number in range(3):
            double(float(number))
    assert "2.0" in str(caught.value)


def test_a_trace_from_before_counts(double) -> None:  # type: ignore[no-untyped-def]
    double(tf.ones([3]))
    with pytest.raises(AssertionError, match="traced again"), assert_no_retrace():
        double(tf.ones([4]))


def test_a_function_made_anew_in_the_loop_is_a_retrace() -> None:
    with pytest.raises(AssertionError, match="a new tf.function object"), assert_no_retrace():
        for _ in range(2):
            tf.function(lambda x: x + 1)(tf.ones([3]))


def test_making_variables_is_no_retrace_nor_is_fit() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    with assert_no_retrace():
        model.fit(tf.ones([8, 3]), tf.ones([8, 2]), batch_size=4, epochs=2, verbose=0)


def test_what_the_block_raises_comes_through_and_nothing_is_left(double) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(KeyError), assert_no_retrace():
        double(1.0)
        double(2.0)
        raise KeyError("the test's own")
    with watch_traces() as traces:
        pass
    double(3.0)
    assert not traces.counts


def test_a_compiled_step_is_compiled(double) -> None:  # type: ignore[no-untyped-def]
    data = tf.data.Dataset.range(6).batch(2)
    with assert_compiled() as operations:
        for batch in data:
            double(batch)
    assert (operations.count, operations.function_calls) == (0, 3)


def test_an_eager_operation_is_named_with_its_line(double) -> None:  # type: ignore[no-untyped-def]
    x = tf.ones([2, 2])
    said = rf"(?s)1 operation was called by itself.*MatMul once at .*{Path(__file__).name}:\d+"
    with pytest.raises(AssertionError, match=said), assert_compiled():
        double(x)
        tf.matmul(x, x)
    with pytest.raises(AssertionError, match="no compiled function was called"), assert_compiled():
        pass


def test_so_many_operations_and_no_more() -> None:
    x = tf.ones([2, 2])
    with max_ops(2) as operations:
        tf.abs(tf.matmul(x, x))
    assert operations.count == 2
    with pytest.raises(AssertionError, match="3 operations were called one by one, allowed are 2"), max_ops(2):
        for _ in range(3):
            tf.matmul(x, x)
    tf.matmul(x, x)  # no longer counted
    assert operations.count == 2


MARKED = """\
import pytest
import tensorflow as tf

@tf.function
def double(x):
    return x * 2

@pytest.mark.tfperf(max_traces=1, max_ops=1)
def test_good():
    x = tf.ones([3])
    for _ in range(3):
        double(x)

@pytest.mark.tfperf(max_traces=1)
def test_retraced():
    for number in range(3):
        double(float(number))

@pytest.mark.tfperf(max_ops=2)
def test_eager():
    x = tf.ones([3])
    for _ in range(3):
        x = tf.abs(x)

@pytest.mark.tfperf(no=["RET"])
def test_findings():
    weights = tf.Variable(1.0)
    optimizer = tf.keras.optimizers.SGD(0.1)

    @tf.function
    def step(scale):
        with tf.GradientTape() as tape:
            loss = weights * weights * scale
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])

    for number in range(30):
        step(1.0 + number % 10)

@pytest.mark.tfperf(max_trace=1)
def test_misspelled():
    pass

def test_without_the_mark():
    double(7.0)
"""


def test_the_mark_in_a_session_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "test_marked.py").write_text(MARKED)
    words = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider", "test_marked.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert "4 failed, 2 passed" in done.stdout, done.stdout
    for said in (
        "traced more often than once:",
        "allowed are 2:",
        "RET001: ",
        "takes max_ops, max_traces, no by name",
    ):
        assert said in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["test_marked.py"]


def test_unused_it_imports_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, pytest\n"
        "def test_it():\n"
        "    assert 'tfperfkit.pytest_plugin' in sys.modules\n"
        "    heavy = ('tensorflow', 'numpy', 'msgspec', 'tfperfkit')\n"
        "    heavy = {name for name in sys.modules if name.startswith(heavy)}\n"
        "    assert heavy == {'tfperfkit', 'tfperfkit.version', 'tfperfkit.pytest_plugin'}\n"
    )
    (tmp_path / "test_plain.py").write_text(code)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    done = subprocess.run([*words, "test_plain.py"], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert "1 passed" in done.stdout, done.stdout
