"""Claims of the analysis of an iteration, and cases without a claim."""

from __future__ import annotations

import ast
import time

import pytest

from tfperfkit.syntax.iteration import explain_dependence, iterations_independent, same_in_every_iteration

HEAD = "import numpy as np\nimport tensorflow as tf\nfrom collections import defaultdict\n"
HEAD += "model = tf.keras.Sequential([])\nxs = np.zeros((9, 3))\nrows, out, total = [], np.zeros(9), 0\n"
HEAD += "counts = defaultdict(int)\n"


TEXTS = "texts = tf.keras.layers.TextVectorization(vocabulary=['a'])\n"
SPECTRA = "def mel(n):\n    return tf.signal.linear_to_mel_weight_matrix(80, n, 16000)\n"
SPECTRA += "for x in xs:\n    power = tf.abs(tf.signal.stft(tf.constant(x), 400, 160)) ** 2 + 1.0\n"
#: A function whose lists are of one call each.
PAIRS = "towers = [tf.keras.layers.Dense(1), tf.keras.layers.Dense(2)]\n"
PAIRS += "def both(rows):\n    parts = [tower(rows) * i for i, tower in enumerate(towers)]\n    parts.append(rows)\n"
PAIRS += "    return tf.concat(parts, 1)\n"


def loop_of(tree: ast.Module) -> ast.For | ast.AsyncFor | ast.While:
    return next(node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))


def independent(source: str, draws: bool = True) -> bool:
    tree = ast.parse(HEAD + source)
    return iterations_independent(tree, loop_of(tree), draws=draws)


def same(source: str, text: str) -> bool:
    tree = ast.parse(HEAD + source)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and ast.unparse(node) == text]
    return same_in_every_iteration(tree, found[-1], loop_of(tree))


@pytest.mark.parametrize(
    "source",
    [
        "for x in xs:\n    rows.append(model(x))\n",
        "for i in range(9):\n    out[i] = np.exp(xs[i]).sum()\n",
        "for i, x in enumerate(xs):\n    out[i + 1] = x[0]\n",
        "for x in xs:\n    total += x.sum()\n",
        "for x in xs:\n    counts[str(x)] += 1\n",
        "def f(x, into=None):\n    into = [] if into is None else into\n    into.append(x)\n    return into\n"
        "for x in xs:\n    rows.append(f(x))\n",
        "for x in xs:\n    row = []\n    for y in x:\n        row.append(y)\n    rows.append(row)\n",
        "for x in xs:\n    if (n := x.sum()) > 0:\n        rows.append(n)\n",
        "for x in xs:\n    match x.shape:\n        case (n,):\n            rows.append(n)\n",
        "for a, *b in [(1, 2), (3, 4)]:\n    rows.append(sum(b) + a)\n",
        "calls = {'e': np.exp, 's': np.sin}\nfor x in xs:\n    rows.append(calls['e'](x))\n",
        "kept = {}\nkept['model'] = model\nkept['all'] = []\nfor x in xs:\n    kept['all'].append(kept['model'](x))\n",
        "kept = {'a': [], 'b': [1]}\nfor x in xs:\n    kept['a'].append(len(kept['b']))\n",
        "for x in xs:\n    f = tf.train.Feature(float_list=tf.train.FloatList(value=[x.sum()]))\n"
        "    f = tf.train.Features(feature={'x': f})\n"
        "    rows.append(tf.train.Example(features=f).SerializeToString())\n",
        "for x in xs:\n    rows.append(np.minimum.accumulate(x))\n",
        "for x in xs:\n    n = np.zeros(9)\n    np.add.at(n, x, 1)\n    rows.append(n)\n",
        "for x in xs:\n    f = lambda w: w + x\n    rows.append(f(1))\n",
        "for x in xs:\n    y = x * 2\n    rows.append(sorted(xs, key=lambda v: v * y))\n",
        "class A:\n    n = 0\nfor x in xs:\n    a = A()\n    setattr(a, 'n', x)\n    rows.append(a.n)\n",
        "h = {'a': [], 'n': 0}\nfor x in xs:\n    h['n'] += 1\n    h['a'].append(x)\n",
        "h = [[], [1]]\nfor x in xs:\n    h[0].append(h[1][0])\n",
        "h = [[2], [1]]\nfor x in xs:\n    a, b = h\n    a.append(b[0])\n",
        "for x, y in zip(xs, list(rows)):\n    rows.append(y)\n",
        "for i, x in enumerate(xs):\n    rows.append(x)\n",
    ],
)
def test_independent(source: str) -> None:
    assert independent(source)


@pytest.mark.parametrize(
    "source",
    [
        "for p in ['a', 'b']:\n    model.load_weights(p)\n    rows.append(model(xs))\n",
        "for x in xs:\n    rows.append(unknown(x))\n",
        "for x in xs:\n    out[0] = x.sum()\n",
        "for x in xs:\n    np.add.at(out, x, 1)\n    rows.append(out.sum())\n",
        "for x in xs:\n    np.minimum.accumulate(x, 0, None, out)\n",
        "e = tf.train.Example()\nfor x in xs:\n    e.features.feature['a'].int64_list.value.append(1)\n"
        "    rows.append(e.SerializeToString())\n",
        "for i in range(9):\n    out[i] = out[i - 1]\n",
        "for x in xs:\n    best = max(best, x.sum())\n",
        "for x in xs:\n    rows.append(len(rows))\n",
        "kept = {'n': 0, 'm': 1}\nfor x in xs:\n    kept['n'] = kept['n'] * 2\n    rows.append(kept['n'])\n",
        "kept = {'n': 0, 'm': 1}\nfor x in xs:\n    kept[str(x)] = 1\n    rows.append(kept['n'])\n",
        "kept = {'n': 0}\nfor x in xs:\n    rows.append(sum(kept.values()))\n    kept['n'] = len(rows)\n",
        "kept = {'a': rows, 'b': rows}\nfor x in xs:\n    kept['a'].append(x)\n    out[0] = len(kept['b'])\n",
        "calls = {'e': np.exp, 's': unknown}\nfor x in xs:\n    rows.append(calls['s'](x))\n",
        "calls = {'e': np.exp}\ncalls[str(xs)] = unknown\nfor x in xs:\n    rows.append(calls['e'](x))\n",
        "for x in xs:\n    last = x.sum()\nprint(last)\n",
        "for x in xs:\n    if x.sum() > 1:\n        break\n",
        "for x in xs:\n    exec('y = x')\n",
        "def g(f):\n    return f\n@g\ndef f(x):\n    return x\nfor x in xs:\n    rows.append(f(x))\n",
        "for x in xs:\n    rows.append(lambda: x)\n",
        "seen = rows\nfor x in xs:\n    rows.append(x.sum())\n    total += len(seen)\n",
        "async def main(source):\n    async for x in source:\n        rows.append(x)\n",
        "for x in xs:\n    with open('a', 'w') as file:\n        file.write('a')\n",
        "for x in xs:\n    rows.append(np.random.normal())\n",
        "for x in rows:\n    rows.append(x)\n",
        "for x, y in zip(xs, rows):\n    rows.append(x)\n",
        "for i, x in enumerate(rows):\n    rows.append(x)\n",
        "for i, (x, y) in enumerate(zip(xs, reversed(rows))):\n    rows.append(x)\n",
        "for x in map(str, filter(None, rows)):\n    rows.append(x)\n",
        "import itertools\nfor x in itertools.islice(rows, 9):\n    rows.append(x)\n",
    ],
)
def test_unknown(source: str) -> None:
    assert not independent(source)


def test_numbers_that_are_drawn_may_be_left_out_of_the_question() -> None:
    source = "for x in xs:\n    rows.append(model(x + np.random.normal(size=3)))\n"
    assert not independent(source) and independent(source, draws=False)


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("for t in [1, 2]:\n    rows.append(model(xs) > t)\n", "model(xs)", True),
        ("for t in [1, 2]:\n    rows.append(model(xs + t))\n", "model(xs + t)", False),
        ("for t in [1, 2]:\n    xs[0] = t\n    rows.append(model(xs))\n", "model(xs)", False),
        ("ys = xs\nfor t in [1, 2]:\n    ys[0] = t\n    rows.append(model(xs))\n", "model(xs)", False),
        ("for t in [1, 2]:\n    other(t)\n    rows.append(model(xs))\n", "model(xs)", False),
        ("for t in [1, 2]:\n    rows.append(model(xs, training=True))\n", "model(xs, training=True)", False),
        ("for t in model(xs):\n    rows.append(t)\n", "model(xs)", False),  # evaluated once, in no iteration
        ("for t in [1, 2]:\n    for x in xs:\n        y = x * 2\n        rows.append(y + t)\n", "x * 2", True),
        (TEXTS + "for t in [1, 2]:\n    rows.append(texts.get_vocabulary()[t])\n", "texts.get_vocabulary()", True),
        (
            TEXTS + "for t in [1, 2]:\n    texts.adapt(xs + t)\n    rows.append(texts.get_vocabulary()[t])\n",
            "texts.get_vocabulary()",
            False,
        ),
        ("n = 0\nwhile n < 9:\n    n += 1\n    rows.append(model(xs) > n)\n", "model(xs)", True),
        ("n = 0\nwhile n < 9:\n    n += 1\n    rows.append(model(xs + n))\n", "model(xs + n)", False),
        ("while model(xs) > total:\n    total += 1\n", "model(xs)", True),
        ("while total < 9:\n    xs[0] += 1\n    total += model(xs)\n", "model(xs)", False),
        (PAIRS + "for t in [1, 2]:\n    rows.append(towers[0](xs) > towers[0](xs + t))\n", "towers[0](xs)", True),
        (PAIRS + "for t in [1, 2]:\n    rows.append(both(xs) > both(xs + t))\n", "both(xs)", True),
        (PAIRS + "for t in [1, 2]:\n    towers[1].set_weights(t)\n    rows.append(both(xs))\n", "both(xs)", False),
        (SPECTRA + "    mel(power.shape[-1])\n", "power.shape[-1]", True),
        (SPECTRA + "    mel(power.shape[0])\n", "power.shape[0]", False),
        (SPECTRA + "    mel(power[0].shape[-1])\n", "power[0].shape[-1]", False),
        (SPECTRA.replace("400", "400 + len(x)") + "    mel(power.shape[-1])\n", "power.shape[-1]", False),
        (SPECTRA + "    p = power @ x\n    mel(p.shape[-1])\n", "p.shape[-1]", False),
        (SPECTRA + "    p = tf.concat([power, power], -1)\n    mel(p.shape[-1])\n", "p.shape[-1]", False),
        (SPECTRA + "    p = power if len(x) else tf.constant(x)\n    mel(p.shape[-1])\n", "p.shape[-1]", False),
        (
            "p = tf.zeros([3])\nfor x in xs:\n    n = p.shape[-1]\n    p = tf.abs(tf.constant(x)) + p\n",
            "p.shape[-1]",
            False,
        ),
        (
            "makers = [iter([1, 2])]\nfor t in [1, 2]:\n    for it, n in zip(makers, [1]):\n"
            "        rows.append(next(it))\n",
            "next(it)",
            False,
        ),
    ],
)
def test_the_same(source: str, text: str, expected: bool) -> None:
    assert same(source, text) == expected


def test_the_table_of_a_call_that_a_run_has_shown() -> None:
    tree = ast.parse(
        "def ask(model, xs):\n    rows = []\n    for x in [1, 2]:\n        rows.append(model(x))\n    return rows\n"
    )
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node) == "model(x)")
    assert not iterations_independent(tree, loop_of(tree))
    assert iterations_independent(tree, loop_of(tree), {call: "layer.__call__"})


def test_the_iterations_of_a_while_loop_and_of_another_file_are_not_independent() -> None:
    tree = ast.parse("while True:\n    pass\n")
    assert explain_dependence(tree, tree.body[0]) != ""
    other = ast.parse("for x in []:\n    pass\n")
    assert not iterations_independent(tree, loop_of(other))


def test_twenty_thousand_lines_take_a_bounded_time() -> None:
    """The analysis gives up, or ends: it spends so many steps at most."""
    body = "".join(f"def f{n}(a):\n    b{n} = a + {n}\n    return f{max(n - 1, 0)}(b{n})\n" for n in range(6000))
    tree = ast.parse(HEAD + body + "for x in xs:\n    rows.append(f5999(x))\n" + "y = 1\n" * 2000)
    begin = time.process_time()
    assert not iterations_independent(tree, loop_of(tree))
    assert time.process_time() - begin < 120


def test_deeply_nested_code_is_unknown() -> None:
    tree = ast.parse(HEAD + "for x in xs:\n    y = " + "+".join(["x"] * 900) + "\n    rows.append(y)\n")
    iterations_independent(tree, loop_of(tree))


def test_a_message_that_is_changed_varies() -> None:
    source = "e = tf.train.Example()\nfor x in xs:\n    e.features.feature['a'].int64_list.value.append(1)\n"
    assert not same(source + "    print(e.SerializeToString())\n", "e.SerializeToString()")


WRAP = "def wrap(f):\n    return lambda *given: f(*given)\n"


@pytest.mark.parametrize(
    "source",
    [
        "def f(value):\n    return value\n@wrap\ndef g(x):\n    return f(x)\nfor x in xs:\n    g(x)\n    f(1)\n",
        "class A:\n    def f(self, value):\n        return value\nclass B(A):\n    pass\n@wrap\n"
        "def g(b, x):\n    return b.f(x)\nb = B()\nfor x in xs:\n    g(b, x)\n    b.f(1)\n",
        "class A:\n    def __init__(self, value):\n        self.a = value\n@wrap\ndef g(made, x):\n    return made(x)\n"
        "for x in xs:\n    g(A, x)\n    A(1)\n",
    ],
    ids=["called by what it may call", "of a base class", "of a class that it is given"],
)
def test_what_unknown_code_may_call_varies(source: str) -> None:
    assert not same(WRAP + source, "value")


@pytest.mark.parametrize(
    "source",
    [
        "for x in xs:\n    rows.append(w + x for w in xs)\n",
        "for x in xs:\n    rows.append((map(lambda w: w + x, xs), 1))\n",
        "for x in xs:\n    rows.append(lambda: x)\n",
        "for x in xs:\n    f = lambda: x\nprint(f())\n",
        "for x in xs:\n    if x[0] > 1:\n        f = lambda w: w + x\n    rows.append(f(1))\n",
    ],
)
def test_what_a_kept_function_reads_is_read_after_the_loop(source: str) -> None:
    assert not independent(source)


KEPT = "import random\nh, d = [[1], [2]], {'a': [1], 'b': [2]}\n"


@pytest.mark.parametrize(
    "source",
    [
        "h.reverse()\nfor x in xs:\n    h[0].append(h[1][0])\n",
        "g = h if xs else 3\nrandom.shuffle(g)\nfor x in xs:\n    h[0].append(h[1][0])\n",
        "def f(h):\n    h[0], h[1] = h[1], h[0]\nf(h)\nfor x in xs:\n    h[0].append(h[1][0])\n",
        "g = (h + [])[0]\nfor x in xs:\n    g.append(h[0][0])\n",
        "g = dict(d)\nfor x in xs:\n    g['a'].append(d['a'][0])\n",
        "g = {**d}\nfor x in xs:\n    g['a'].append(d['a'][0])\n",
        "g = d.copy()\nfor x in xs:\n    g['a'].append(d['a'][0])\n",
        "g = {'c': 1}\ng.update(d)\nfor x in xs:\n    g['a'].append(d['a'][0])\n",
        "for x in xs:\n    for key, value in d.items():\n        value.append(d['a'][0])\n",
        "for x in xs:\n    d.get('a').append(d['a'][0])\n",
        "for x in xs:\n    rows.append(d[str(x)])\n    d['a'] = x\n",
        "for x in xs:\n    rows.append(d['a'])\n    d[str(x)] = x\n",
        "for x in xs:\n    rows.append(len(d))\n    d['c'] = x\n",
    ],
)
def test_elements_that_may_be_one_are_not_kept_apart(source: str) -> None:
    assert not independent(KEPT + source)


OUTSIDE = (
    "class Table:\n    def __init__(self):\n        self.rows, self.read = np.zeros(9), np.square\n"
    "    def fit(self, rows):\n        self.rows = rows\n"
    "    def total(self):\n        if self.rows.size > 99:\n            raise ValueError\n"
    "        return np.sum(self.read(self.rows))\n"
    "    def use(self, xs):\n        for x in xs:\n            a = self.total()\n            b = a + len(x)\n"
)


def test_an_object_that_another_file_makes_is_of_the_class_whose_method_runs() -> None:
    assert same(OUTSIDE, "self.total()")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("b = a + len(x)", "self.fit(x)"),
        ("b = a + len(x)", "self.read = np.abs if len(x) else np.exp"),
        ("b = a + len(x)", "unknown(self)"),
        ("self.rows.size > 99", "np.random.rand() > 0.5"),
        ("class Table:", "class Table(Other):"),
        ("class Table:", "@register\nclass Table:"),
    ],
)
def test_an_object_that_another_file_makes_may_change(old: str, new: str) -> None:
    assert old in OUTSIDE and not same(OUTSIDE.replace(old, new, 1), "self.total()")


def test_a_class_that_the_file_derives_may_have_another_method() -> None:
    assert not same(OUTSIDE + "class Own(Table):\n    def total(self):\n        self.rows += 1\n", "self.total()")
