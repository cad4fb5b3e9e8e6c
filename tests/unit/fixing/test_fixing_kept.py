"""Results kept by ``functools.cache``: of a function, or of a statement in a method; and where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixing_builder import at, finding_at, patch_of, refusal_of

from tfperfkit.remedy import Hoist, ReplaceOps

LOADER = """\
import json


def load():
    with open("trips.json") as file:  # here
        return json.load(file)


def trips():
    for number in range(9):
        yield load()[number]  # here
"""
METHOD = """\
import functools
import numpy as np


class Spectra:
    def __init__(self, path: str, size):
        self.path = path
        self.size = size

    def rows(self, index):
        with np.load(self.path) as archive:  # here
            counts = archive["counts"]
        return counts[index : index + self.size]
"""


def patched(folder: Path, source: str) -> tuple[str, str]:
    """The reason, and the file after the patch."""
    places = [(line, "") for line in reversed(at(source))]
    patch, after = patch_of(folder, source, finding_at("INP014", *places, remedy=Hoist("reader")))
    return (refusal_of(patch, after, source) if after == source else patch.reason), after


def test_a_function_without_arguments_is_cached(tmp_path: Path) -> None:
    after = "import functools\n" + LOADER.replace("def load()", "@functools.cache\ndef load()")
    assert patched(tmp_path, LOADER) == ("", after)


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("def load():", "def load(name='a'):", "parameters"),
        ("def load():", "@retry\ndef load():", "decorators"),
        ("return json.load(file)", "yield json.load(file)", "generator"),
        ("yield load()[number]  # here", "rows = load()  # here\n        rows.sort()\n        yield rows", "changed"),
        ("number]  # here", "number]  # here\n\ndef f():\n    x = load()\n    y = x[0]\n    y[0] = 3", "changed"),
        ("number]  # here", "number]  # here\n\nwork = [load]", "passed on"),
        ("number]  # here", "number]  # here\n\ndef f(self):\n    self.x = load()", "an object keeps"),
        ("return json.load(file)", "return random.sample(json.load(file), 3)", "draws another value"),
        ("return json.load(file)", "return map(int, json.load(file))", "read only once"),
        ("return json.load(file)", "rows = iter(json.load(file))\n        return rows, 3", "read only once"),
    ],
)
def test_a_function_whose_result_may_differ_stays(tmp_path: Path, old: str, new: str, why: str) -> None:
    source = LOADER.replace("import json", "import json, random").replace(old, new)
    reason, after = patched(tmp_path, source)
    assert why in reason and after == source


@pytest.mark.parametrize(
    "binding, why",
    [
        ("for path in paths:\n    use(load())", "several values"),
        ("paths = ['a', 'b']\nwhile paths:\n    path = paths.pop()", "several values"),
        ("path = 'a'\n\ndef f():\n    global path\n    path = 'b'", "several values"),
        ("path = ['a']\npath[0] = 'b'", "changed in place"),
        ("path = deque('a')\npath.appendleft('b')", "changed in place"),
        ("path = 'a'", ""),
    ],
)
def test_a_function_that_reads_a_name_with_several_values_stays(tmp_path: Path, binding: str, why: str) -> None:
    source = f"{LOADER}\n\n{binding}\n".replace('open("trips.json")', "open(path)")
    reason, after = patched(tmp_path, source)
    assert why in reason and (after == source) is bool(why)


def test_a_statement_of_a_method_becomes_a_cached_function(tmp_path: Path) -> None:
    reason, after = patched(tmp_path, METHOD)
    assert reason == "" and after == METHOD.replace(
        "\n\nclass Spectra",
        "\n\n@functools.cache\ndef _counts_once(path):\n    with np.load(path) as archive:  # here\n"
        '        counts = archive["counts"]\n    return counts\n\n\nclass Spectra',
    ).replace(
        '        with np.load(self.path) as archive:  # here\n            counts = archive["counts"]\n',
        "        counts = _counts_once(self.path)\n",
    )


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("np.load(self.path)", "reader(self.size)", "key of a cache"),
        ("np.load(self.path)", "self.path.open()", "method of an object"),
        ("        return counts[", "        counts[0] = 1\n        return counts[", "changed"),
        ('counts = archive["counts"]', "return archive", "leaves the function"),
        ('counts = archive["counts"]', 'counts = rng.permutation(archive["counts"])', "draws another value"),
        ("np.load(self.path) as archive:", "open(self.path) as counts:", "read only once"),
    ],
)
def test_a_statement_whose_result_may_differ_stays(tmp_path: Path, old: str, new: str, why: str) -> None:
    source = METHOD.replace(old, new)
    reason, after = patched(tmp_path, source)
    assert why in reason and after == source


def test_a_tuple_with_an_array_is_no_key(tmp_path: Path) -> None:
    source = (
        "from typing import NamedTuple\nimport numpy as np\n\n\nclass Rows(NamedTuple):\n    x: np.ndarray\n\n\n"
        "def total(rows: Rows):\n    norm = np.linalg.norm(rows)  # here\n    return norm + 1\n"
    )
    assert patched(tmp_path, source)[1] == source
    for kind in ("int", "Path | None", "Optional[str]", "int | float | None"):
        assert patched(tmp_path, source.replace("np.ndarray", kind))[0] == ""
    for kind in ("list | None", "Optional[np.ndarray]", "dict[str, int]"):
        assert patched(tmp_path, source.replace("np.ndarray", kind))[1] != ""
        assert "key of a cache" in patched(tmp_path, source.replace("np.ndarray", kind))[0]


OBJECT = """\
import tensorflow as tf


class Model:
    def __init__(self, x):
        self.x = tf.constant(x)

    def predict(self, query):
        root = tf.linalg.cholesky(self.x)  # here
        return tf.matmul(root, query)


model = Model(rows)
weight = tf.Variable(1.0)
for scale in range(3):
    model.predict(scale)
"""


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("model = Model(rows)", "model = Model(rows)\nmodel.x = other", "sets x outside"),
        ("model = Model(rows)", "model = Model(rows)\nmodel.x[0].assign(3.0)", "calls assign"),
        ("model = Model(rows)", "class Other(Model):\n    pass", "derived"),
        ("cholesky(self.x)", "cholesky(self.x + query)", "another one at each call"),
        ("tf.linalg.cholesky(self.x)", "tf.random.normal(self.x)", "not known"),
        ("tf.linalg.cholesky(self.x)", "factor(self.x)", "not known"),
        ("tf.linalg.cholesky(self.x)", "self.x[0]", "takes no time"),
        ("tf.linalg.cholesky(self.x)", "tf.linalg.cholesky(self.x * scale)", "scale, which gets several values"),
        ("tf.linalg.cholesky(self.x)", "tf.linalg.cholesky(self.x * weight)", "weight, a variable"),
        ("        self.x = tf.constant(x)", "        return", "returns"),
        ("        return tf", "        root = root + 1\n        return tf", "nothing at its place"),
    ],
)
def test_what_may_change_for_an_object_stays(tmp_path: Path, old: str, new: str, why: str) -> None:
    source = OBJECT.replace(old, new)
    finding = finding_at("GRF023", *((line, "") for line in at(source)), remedy=ReplaceOps("fewer"))
    patch, after = patch_of(tmp_path, source, finding)
    assert after == source and why in patch.reason
    assert patch_of(tmp_path, OBJECT, finding)[1] != OBJECT


def test_variables_of_an_object_that_another_file_may_train_stay(tmp_path: Path) -> None:
    source = OBJECT.replace("tf.constant(x)", "tf.Variable(x)")
    finding = finding_at("GRF023", *((line, "") for line in at(source)), remedy=ReplaceOps("fewer"))
    assert patch_of(tmp_path, source, finding)[1] != source
    elsewhere = source.replace("model = Model(rows)\n", "").replace("    model.predict(scale)", "    pass")
    patch, after = patch_of(tmp_path, elsewhere, finding)
    assert after == elsewhere and "another file" in patch.reason
