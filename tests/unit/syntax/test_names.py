"""Names are followed to the library that they stand for, whatever the user calls things."""

from __future__ import annotations

import pytest

from tfperfkit.syntax.module import Syntax, parse


def syntax(text: str) -> Syntax:
    found = parse(tuple(text.splitlines()))
    assert found is not None
    return found


def last(text: str) -> str:
    """The API that the last call of a text is a call of."""
    return max(syntax(text).calls, key=lambda call: (call.line, -call.span[2])).name


@pytest.mark.parametrize(
    ("text", "api"),
    [
        ("import numpy as np\nnp.random.choice(3)", "numpy.random.choice"),
        ("import numpy\nnumpy.random.choice(3)", "numpy.random.choice"),
        ("from numpy.random import choice as pick\npick(3)", "numpy.random.choice"),
        ("import numpy as np\nr = np.random.default_rng(1)\nr.choice(3)", "numpy.random.default_rng().choice"),
        ("import tensorflow.compat.v1 as tf\ntf.Session()", "tensorflow.Session"),
        ("import tensorflow as tf\ntf.keras.Model()", "keras.Model"),
        ("from tensorflow import keras\nkeras.layers.Dense(1)", "keras.layers.Dense"),
        ("from tensorflow import function\nfunction(f)", "tensorflow.function"),
        ("from tensorflow import *\nconstant(1)", "tensorflow.constant"),
        ("print(1)", "builtins.print"),
        ("def print(x): ...\nprint(1)", ""),
        ("def f(np):\n    np.zeros(3)", "?.zeros"),
        ("import numpy as np\ndef f():\n    np = object\n    return np.zeros(3)", "builtins.object.zeros"),
        ("import numpy as np\nclass A:\n    np = 1\n    def f(self):\n        np.zeros(3)", "numpy.zeros"),
        ("import keras\nclass Net(keras.Model): ...\nnet = Net()\nnet(1)", "keras.Model()"),
        (
            "import keras\ndef make():\n    m = keras.Sequential()\n    return m\nm = make()\nm.fit(1)",
            "keras.Sequential().fit",
        ),
        (
            "import keras\nclass A:\n    def __init__(me):\n        me.g = keras.Sequential()\n"
            "    def step(me):\n        me.g(1)",
            "keras.Sequential()",
        ),
        (
            "import tensorflow as tf\nwith tf.GradientTape() as t:\n    ...\nt.gradient(1)",
            "tensorflow.GradientTape().gradient",
        ),
        ("def f(model):\n    model.fit(1)", "?.fit"),
        ("import numpy as np\nd = {'a': np.load, 'b': np.save}\nd['a'](1)", "numpy.load"),
        ("import numpy as np\nd = {'a': np.load, 'b': np.save}\nd[x](1)", ""),
        ("import numpy as np\nd = {}\ndef f(): d['a'](1)\nd['a'] = np.load\nd['b'] = np.save", "numpy.load"),
        ("import numpy as np\nd = {'a': np.load}\nd['a'] = np.save\nd['a'](1)", ""),
        ("import numpy as np\nd = dict(dict(a=np.load), b=np.save)\nd['a'](1)", "numpy.load"),
        ("import numpy as np\nd = {'a': np.load}\ne = {**d}\ne['a'](1)", "numpy.load"),
        ("import numpy as np\nd = {'a': np.load}\nfor k, f in d.items():\n    f(1)", "numpy.load"),
        ("import numpy as np\nd = {'a': np.load}\n[f(1) for f in d.values()]", "numpy.load"),
        ("import numpy as np\nd = [np.load, np.save]\nd[1](1)", "numpy.save"),
        ("import numpy as np, types\no = types.SimpleNamespace(f=np.load)\no.f(1)", "numpy.load"),
        ("import numpy as np\nclass O: ...\no = O()\no.f = np.load\no.f(1)", "numpy.load"),
        (
            "import numpy as np\nclass A:\n    def __init__(self):\n        self.d = {}\n"
            "        self.d['a'] = np.load\n    def go(self):\n        self.d['a'](1)",
            "numpy.load",
        ),
        (
            "import keras\no = object()\no.all = []\no.all.append(keras.Sequential())\nfor m in o.all:\n    m(1)",
            "keras.Sequential()",
        ),
        ("import numpy as np, functools\nf = functools.partial(np.load, allow_pickle=True)\nf(1)", "numpy.load"),
        ("import keras\nf = lambda: keras.Sequential()\nm = f()\nm.fit(1)", "keras.Sequential().fit"),
        (
            "import tensorflow as tf\ndef f(x):\n    return tf.abs(x)\nf = tf.function(f)\ny = f(1)\ny.numpy()",
            "tensorflow.abs().numpy",
        ),
        ("import tensorflow as tf, keras\nf = tf.function(keras.Sequential())\nf(1)", "tensorflow.function()"),
        ("import keras\nm = keras.Sequential()\nm.loss = print\nm.loss(1)", "keras.Sequential().loss"),
        ("d = {'a': d}\nd['a']['a'](1)", ""),
        ("x = x\nx()", ""),
        ("def f(): return f()\nf()", ""),
    ],
)
def test_a_call_is_named_by_what_it_calls(text: str, api: str) -> None:
    assert last(text) == api


@pytest.mark.parametrize(
    ("text", "api"),
    [
        ("import keras\nxs = [keras.layers.Dense(1) for _ in range(3)]\nfor x in xs: ...", "keras.layers.Dense()"),
        ("import keras\nxs = []\nxs.append(keras.layers.Dense(1))\nfor x in xs: ...", "keras.layers.Dense()"),
        ("def f(model):\n    for x in model.trainable_variables: ...", "?.trainable_variables[]"),
        ("def f(xs):\n    for x in xs: ...", "?[]"),
        ("import numpy as np\nfor x in np.zeros(3): ...", "numpy.zeros()[]"),
    ],
)
def test_a_loop_is_named_by_what_it_goes_through(text: str, api: str) -> None:
    found = syntax(text)
    over = next(loop.iterable for loop in found.loops if loop.is_statement)
    assert over is not None and over.name_element() == api


def test_a_loop_that_takes_tuples_apart_knows_each_part() -> None:
    found = syntax(
        "import tensorflow as tf\nws = [tf.Variable(1)]\ndef f(gs):\n    for g, w in zip(gs, ws):\n        w.assign(g)"
    )
    assert found.calls[-1].name == "tensorflow.Variable().assign"


def test_the_running_call_is_found_by_its_columns() -> None:
    found = syntax("import time\nvalue = f(time.sleep(1)) + g(2)")
    (call,) = found.find_running_calls(2, (2, 2, 10, 23))
    assert call.name == "time.sleep"
    assert [node.text for node in found.find_running(2, None)] == ["f(time.sleep(1))", "g(2)", "time.sleep(1)"]


def test_what_is_not_python_has_no_syntax() -> None:
    assert parse(("def f(:",)) is None


@pytest.mark.parametrize(
    "lines",
    [
        ["    x = x.step()"] * 60,
        [f"    {a} = {b}.join({c})" for a in "abcde" for b in "abcde" for c in "abcde"],
        ["    x = pick(x) if flag else x[0]", "    xs.append(x)", "    x = xs[0].turn(xs)"] * 20,
    ],
)
def test_names_that_are_assigned_from_each_other_many_times_end(lines: list[str]) -> None:
    """The ways through them are more than can be gone: without a bound each of these takes years."""
    head = ["import numpy", "def pick(v):", "    return v.part", "def f(x, xs, a):"]
    text = "\n".join([*head, *lines, "    x.out(); a.out()"])
    found = syntax(text)
    assert [call.name for call in found.calls][-1].endswith(".out")
    known = syntax(text + "\n    numpy.zeros(3)")
    assert known.calls[-1].name == "numpy.zeros"
