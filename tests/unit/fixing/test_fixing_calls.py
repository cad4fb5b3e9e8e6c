"""Patches of Keras' calls, of functions that are compiled again and again, and of lists: where they are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixing_builder import at, finding_at, patch_of, refusal_of

from tfperfkit.model import Measurement
from tfperfkit.remedy import BatchLoop, CallDirectly, Compile, Hoist, KeepTrace, Remedy, ReplaceOps


def refusal(folder: Path, body: str, remedy: Remedy, batches: float = 1.0) -> str:
    """Why there is no patch at the marked line."""
    source = f"import numpy as np\nimport tensorflow as tf\n\n{body}\n"
    evidence = (Measurement("batches per call of fit", batches, "count"),)
    places = [(line, "") for line in at(source)]
    patch, after = patch_of(folder, source, finding_at("EAG006", *places, remedy=remedy, evidence=evidence))
    return refusal_of(patch, after, source)


@pytest.mark.parametrize(
    "call, why",
    [
        ("model.fit(x, y, epochs=3)", "several epochs"),
        ("model.fit(x, y, callbacks=[stop])", "callbacks"),
        ("model.fit(x, y, 32, 1)", "by position"),
        ("model.fit(tf.data.Dataset.range(3).batch(1))", "dataset"),
        ("h = model.fit(x, y)\n    print(h.params)", "more than its first epoch"),
        ("h = model.fit(x, y)\n    print(h.history['loss'])", "more than its first epoch"),
        ("model.fit(**given)", "by position"),
    ],
)
def test_a_fit_that_does_more_than_one_batch_stays(tmp_path: Path, call: str, why: str) -> None:
    first, _, rest = call.partition("\n")
    body = f"for x, y in data:\n    {first}  # here\n{rest}"
    assert why in refusal(tmp_path, body, CallDirectly("fit"))


def test_a_fit_of_several_batches_stays(tmp_path: Path) -> None:
    body = "for x, y in data:\n    model.fit(x, y)  # here"
    assert "more than one batch" in refusal(tmp_path, body, CallDirectly("fit"), batches=1.5)


@pytest.mark.parametrize(
    "call, why",
    [
        ("model.predict(x, steps=3)", "steps"),
        ("model.predict(ds)", "dataset"),
        ("model.predict()", "data alone"),
    ],
)
def test_a_predict_that_does_more_stays(tmp_path: Path, call: str, why: str) -> None:
    body = f"ds = tf.data.Dataset.range(3).prefetch(2)\nfor x in data:\n    y = self.model.{call[6:]}  # here"
    assert why in refusal(tmp_path, body, CallDirectly("predict"))


def has_predict_patch(folder: Path, body: str) -> bool:
    """Whether the predict at the marked line gets a patch."""
    source = f"import numpy as np\nimport tensorflow as tf\n\n{body}\n"
    finding = finding_at("EAG004", *((line, "") for line in at(source)), remedy=CallDirectly("predict"))
    patch = patch_of(folder, source, finding)[0]
    return patch.fixer is not None and not patch.is_candidate


@pytest.mark.parametrize("made", ["tf.data.Dataset.range(3).batch(1)", "load()", "np.ones((1, 3))", "state[None]"])
def test_a_predict_of_a_parameter_changes_if_all_calls_of_the_file_pass_an_array(tmp_path: Path, made: str) -> None:
    function = "from rows import load\n\ndef score(model, ds):\n    return model.predict(ds)  # here"
    body = f"{function}\n\nfor _ in data:\n    score(model, {made})"
    assert has_predict_patch(tmp_path, body) == (made in ("np.ones((1, 3))", "state[None]"))


@pytest.mark.parametrize(
    "before, data",
    [
        ("", "np.stack(rows)"),
        ("x = np.stack(rows)", "x"),
        ("x = load().astype('float32')", "x"),
        ("x: np.ndarray = load()", "x[i : i + 1]"),
        ("width = x.shape[1]", "x"),
        ("x = 2.0 * load()", "x"),
        ("x = tf.constant(rows)", "x"),
        ("def rescale(a):\n        return np.sqrt(a)\n    x = rescale(rows)", "x"),
        ("x = load()", "tf.keras.utils.pad_sequences([x])"),
        ("x = load() if full else np.zeros(3)\n    x = x.reshape(1, -1)", "x"),
    ],
)
def test_an_array_is_predicted_as_one_batch(tmp_path: Path, before: str, data: str) -> None:
    body = f"def score(self, rows, full, i):\n    {before}\n    return self.model.predict({data}, verbose=0)  # here"
    assert has_predict_patch(tmp_path, body)


@pytest.mark.parametrize(
    "before, after, has",
    [
        ("", "agent.act(env.reset())", True),
        ("", "", False),
        ("import agents", "agent.act(env.reset())", False),
        ("from . import agents", "agent.act(env.reset())", False),
        ("", "agent.act(tf.data.Dataset.range(3))", False),
        ("", "agent.act(load_dataset())", False),
        ("class Rows(tf.keras.utils.Sequence): pass", "agent.act(Rows())", False),
    ],
)
def test_a_program_without_a_dataset_predicts_arrays(tmp_path: Path, before: str, after: str, has: bool) -> None:
    body = f"{before}\ndef act(self, obs):\n    return self.net.predict(obs)  # here\n\n{after}"
    assert has_predict_patch(tmp_path, body) == has


@pytest.mark.parametrize(
    "before, data",
    [
        ("", "rows"),
        ("x = load()", "x"),
        ("x = tf.data.TFRecordDataset(rows)", "x"),
        ("x = {'test': rows}['test']", "x"),
        ("x = np.ones(3) if full else rows", "x"),
        ("x = np.ones(3)\n    x = make_dataset(x)", "x"),
        ("x, y = np.ones(3), rows", "y"),
        ("for x in rows: pass", "x"),
        ("x = tf.keras.utils.image_dataset_from_directory(rows)", "x"),
        ("def load(a):\n        return tf.data.Dataset.range(3)\n    x = load(rows)", "x"),
    ],
)
def test_what_may_be_a_dataset_is_predicted_as_before(tmp_path: Path, before: str, data: str) -> None:
    body = f"def score(self, rows, full, i):\n    {before}\n    return self.model.predict({data}, verbose=0)  # here"
    assert not has_predict_patch(tmp_path, body)


@pytest.mark.parametrize(
    "body, why",
    [
        ("for n in range(3):\n    @tf.function  # here\n    def f(x):\n        return x * n\n    f(1)", "binds"),
        ("def g(x):\n    return x * n\n\nfor n in range(3):\n    f = tf.function(g)  # here", "binds"),
        ("for n in range(3):\n    f = jit(g)  # here", "not compiled"),
        ("f = tf.function(g)  # here", "no tf.function in a loop"),
        ("for n in range(3):\n    f = tf.function(g)  # here\n    f = 3", "several values"),
        ("for n in range(3):\n    c.n = n\n    @tf.function  # here\n    def f(x):\n        return x * c.n", "binds"),
        (
            "N = 1\ndef t():\n    @tf.function  # here\n    def f(x):\n        return x * N\n    f(1)\n\nN = 2",
            "several",
        ),
        ("def t():\n    f = tf.function(g)  # here\n\ndef g(x):\n    return x", "defined after"),
        (
            "def t():\n    n = 1\n    @tf.function  # here\n    def f(x):\n        nonlocal n\n        n += x",
            "sets names",
        ),
        ("def t():\n    from m import n\n    @tf.function  # here\n    def f(x):\n        return x * n", "binds"),
    ],
)
def test_a_function_that_differs_each_time_stays(tmp_path: Path, body: str, why: str) -> None:
    assert why in refusal(tmp_path, body, KeepTrace("function"))


@pytest.mark.parametrize(
    "body, why",
    [
        ("x = [1.0]\ny = tf.convert_to_tensor(x)  # here", "no dtype"),
        ("def f(x):\n    return tf.convert_to_tensor(x, tf.float32)  # here", "not seen to be a list"),
        ("x = [1.0]\nx = g(x)\ny = tf.constant(x, tf.float32)  # here", "not seen to be a list"),
        ("y = f([1.0])  # here", "no conversion"),
        ("with tf.GradientTape():\n    y = tf.constant([w, w], tf.float32)  # here", "a tape is recording"),
    ],
)
def test_what_is_no_list_of_arrays_stays(tmp_path: Path, body: str, why: str) -> None:
    assert why in refusal(tmp_path, body, ReplaceOps("array"))


def test_a_list_in_a_message_stays(tmp_path: Path) -> None:
    one = BatchLoop("element")
    assert "a list already" in refusal(tmp_path, "m = tf.train.FloatList(value=[3.0])  # here", one)
    for values in ("(n for n in x)", "map(int, x)", "{n for n in x}"):
        assert "an iterator" in refusal(tmp_path, f"m = tf.train.Int64List(value={values})  # here", one)
    assert "an array already" in refusal(tmp_path, "m = tf.train.FloatList(value=x.numpy())  # here", one)


@pytest.mark.parametrize(
    "body, why",
    [
        ("rows = np.ones(3)\n\ndef f(i):\n    rows[0] = i\n    return tf.gather(rows, i)  # here", "changed"),
        ("rows = np.ones(3)\n\ndef f(i):\n    return tf.gather(rows, i) + len(rows)  # here", "more than TensorFlow"),
        ("rows = np.ones(3)\nrows = rows + 1\n\ndef f(i):\n    return tf.gather(rows, i)  # here", "no array"),
        ("def f(rows, i):\n    return tf.gather(rows, i)  # here", "no array"),
    ],
)
def test_an_array_that_changes_or_is_used_otherwise_stays(tmp_path: Path, body: str, why: str) -> None:
    assert why in refusal(tmp_path, body, Hoist("array"))


def test_a_loop_without_a_tape_around_stays(tmp_path: Path) -> None:
    assert "tape" in refusal(tmp_path, "def f(x):\n    for n in x:  # here\n        g(n)", Compile("loop"))


@pytest.mark.parametrize(
    "function, why",
    [
        ("lambda x: tf.zeros([x])", "another shape"),
        ("lambda x: x if x > 0 else -x", "would not convert"),
        ("lambda x: tf.io.read_file(x)", "one element at a time"),
        ("helper", "not seen"),
    ],
)
def test_a_map_fn_that_works_by_element_stays(tmp_path: Path, function: str, why: str) -> None:
    assert why in refusal(tmp_path, f"y = tf.map_fn({function}, rows)  # here", ReplaceOps("all_rows"))
    assert "more than" in refusal(tmp_path, "y = tf.map_fn(f, rows, name=n)  # here", ReplaceOps("all_rows"))
