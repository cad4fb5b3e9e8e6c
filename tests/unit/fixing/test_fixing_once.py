"""Models and files that are loaded once, runs of a session that are joined, models that are compiled: the same results
before and after, and code that stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixing_builder import at, finding_at, patch_of, refusal_of
from late_tensorflow import needs_tensorflow, tf

from tfperfkit.remedy import Compile, Hoist, Remedy, ReplaceOps


def patched(folder: Path, source: str, remedy: Remedy) -> tuple[str, str]:
    """Why there is no patch at the marked lines, and the source after it."""
    found = finding_at("EAG009", *((line, "") for line in at(source)), remedy=remedy)
    patch, after = patch_of(folder, source, found)
    return (refusal_of(patch, after, source) if after == source else patch.reason), after


def run(source: str, **given: Any) -> dict[str, Any]:
    """The names of a module after its run."""
    names: dict[str, Any] = {"__name__": "made", **given}
    exec(compile(source, "made.py", "exec"), names)
    return names


STORE = """\
import os
import numpy as np


class Store:
    def __init__(self, folder):
        self.folder = folder

    def path(self, ward):
        return os.path.join(self.folder, f"{ward}.npz")

    def write(self, ward):
        np.savez(self.path(ward), x=np.arange(ward + 3.0), label=ward)

    def read(self, ward):
        with np.load(self.path(ward)) as z:  # here
            return z["x"], z["label"]


def total(store, ward):
    x, label = store.read(ward)
    return x.sum() + label


def main(folder):
    store = Store(folder)
    for ward in range(2):
        store.write(ward)
    return [total(store, step % 2) for step in range(6)]


result = main(FOLDER)
"""


def test_a_file_that_a_method_returns_is_read_once(tmp_path: Path) -> None:
    reason, after = patched(tmp_path, STORE, Hoist("reader"))
    assert reason == ""
    assert "@functools.cache\ndef _read_once(path):\n    with np.load(path) as z:  # here\n" in after
    assert '            return z["x"], z["label"]\n' not in after and "return _read_once(self.path(ward))\n" in after
    names = run(after, FOLDER=tmp_path)
    assert names["result"] == run(STORE, FOLDER=tmp_path)["result"]
    assert names["_read_once"].cache_info().misses == 2


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("    return x.sum()", "    x += 1\n    return x.sum()", "changed afterwards"),
        ("    return x.sum()", "    store.write(ward)\n    return x.sum()", "files"),
        ("result = main(FOLDER)", "result = main(FOLDER)\nStore(FOLDER).write(1)\nmain(FOLDER)", "files"),
        ("x, label = store.read(ward)", "store.x = x = store.read(ward)", "an object keeps"),
        ('return z["x"], z["label"]', "return z", "the open file"),
        ('return z["x"], z["label"]', 'return z["x"][: len(self.folder)], 0', "self, which is another one"),
        ('return z["x"], z["label"]', 'return np.random.permutation(z["x"]), 0', "draws another value"),
        ('return z["x"], z["label"]', 'x = z["x"]\n        return x, 0', "not returned there"),
        ("result = main(FOLDER)", "class Writer:\n    def on_epoch_end(self):\n        np.save('a', 1)", "not seen"),
    ],
)
def test_a_file_that_may_change_or_whose_parts_do_is_read_again(tmp_path: Path, old: str, new: str, why: str) -> None:
    source = STORE.replace(old, new)
    assert source != STORE
    reason, after = patched(tmp_path, source, Hoist("reader"))
    assert why in reason and after == source


SERVICE = """\
import os
import tensorflow as tf

KINDS = {"small": 3, "large": 5}


def publish(kind):
    model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(KINDS[kind])])
    model.compile("sgd", "mse")
    model.save(os.path.join(FOLDER, kind + ".keras"))


class Client:
    def __init__(self, kind):
        self.model = load(kind)

    def score(self, x):
        return self.model(x)


def load(kind):
    return tf.keras.models.load_model(os.path.join(FOLDER, kind + ".keras"), compile=False)  # here


CLIENTS = {"client": Client}


def main():
    tf.keras.utils.set_random_seed(1)
    for kind in KINDS:
        publish(kind)
    return [float(tf.reduce_sum(CLIENTS["client"](kind).score(tf.ones([1, 4])))) for kind in [*KINDS, *KINDS]]


if __name__ != "imported":
    result = main()
"""


@needs_tensorflow
def test_a_model_is_loaded_once_for_each_path(tmp_path: Path) -> None:
    reason, after = patched(tmp_path, SERVICE, Hoist("model"))
    assert reason == ""
    assert '    return _load_model_once(os.path.join(FOLDER, kind + ".keras"))  # here\n' in after
    names = run(after, FOLDER=str(tmp_path))
    assert names["result"] == run(SERVICE, FOLDER=str(tmp_path))["result"]
    assert names["_load_model_once"].cache_info().misses == 2


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("        return self.model(x)", "        self.model.fit(x)\n        return self.model(x)", "a model"),
        ("        return self.model(x)", "        publish('small')\n        return self.model(x)", "files"),
        ("        return self.model(x)", "        tf.keras.backend.clear_session()\n        return 1", "clears"),
        ("compile=False", "custom_objects={'f': kind}", "another one in each call"),
        ("compile=False", "custom_objects=made()", "another one in each call"),
        ('os.path.join(FOLDER, kind + ".keras"), compile', "*paths, compile", "not the first argument"),
        ('if __name__ != "imported":\n    result = main()\n', "", "another file"),
        ("    return tf.keras.models.load_model(", "    return read(", "no call at its places"),
    ],
)
def test_a_model_that_may_change_is_loaded_again(tmp_path: Path, old: str, new: str, why: str) -> None:
    source = SERVICE.replace(old, new)
    assert source != SERVICE
    reason, after = patched(tmp_path, source, Hoist("model"))
    assert why in reason and after == source


SESSION = """\
import numpy as np
import tensorflow.compat.v1 as tf

graph = tf.Graph()
with graph.as_default():
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.get_variable("w", initializer=np.ones([3, 2], "float32"))
    logits = tf.matmul(x, w)
    ops = {"prob": tf.nn.softmax(logits), "loss": tf.reduce_mean(logits), "top": tf.nn.top_k(logits, 1).indices}
    train = tf.assign_add(w, tf.ones([3, 2]))
    begin = tf.global_variables_initializer()

totals = {"loss": 0.0}
tops = []
with tf.Session(graph=graph) as session:
    session.run(begin)
    for step in range(3):
        feed = {x: np.full([2, 3], step, "float32")}
        prob = session.run(ops["prob"], feed_dict=feed)  # here
        totals["loss"] += 2 * session.run(ops["loss"], feed)  # here
        top = session.run(ops["top"], feed)  # here
        tops.append((prob.sum(), top[0, 0]))
result = totals, tops
"""


@needs_tensorflow
def test_runs_with_one_feed_become_one(tmp_path: Path) -> None:
    reason, after = patched(tmp_path, SESSION, ReplaceOps("one_pass"))
    assert reason == "" and after == SESSION.replace(
        '        prob = session.run(ops["prob"], feed_dict=feed)  # here\n'
        '        totals["loss"] += 2 * session.run(ops["loss"], feed)  # here\n'
        '        top = session.run(ops["top"], feed)  # here\n',
        '        prob, loss, top = session.run([ops["prob"], ops["loss"], ops["top"]], feed_dict=feed)\n'
        '        totals["loss"] += 2 * loss  # here\n',
    )
    assert tf.version.VERSION and run(after)["result"] == run(SESSION)["result"]


@pytest.mark.parametrize(
    "old, new, why",
    [
        ('session.run(ops["top"], feed)', 'session.run(ops["top"], other)', "different sessions"),
        ('session.run(ops["top"], feed)', "session.run(train, feed)", "has an effect in each run"),
        ('session.run(ops["top"], feed)', "session.run(made(), feed)", "is not seen"),
        ('"loss": tf.reduce_mean(logits)', '"loss": network(x)', "is not seen"),
        ("        top = session", "        session.run(train)\n        top = session", "may change variables"),
        ("        top = session", "        feed = {x: prob}\n        top = session", "between the runs"),
        ("        top = session", "        feed[x][:] = 3\n        top = session", "feed changes"),
        ("        top = session", "        w.load(prob, session)\n        top = session", "may change variables"),
        ("        top = session", "        if step: break\n        top = session", "leaves the block"),
        ("        top = session.run(ops", "        top = step and session.run(ops", "part of a condition"),
        ("    begin =", "    tf.control_dependencies([train])\n    begin =", "control_dependencies"),
    ],
)
def test_runs_that_may_change_something_stay_apart(tmp_path: Path, old: str, new: str, why: str) -> None:
    source = SESSION.replace(old, new)
    assert source != SESSION
    reason, after = patched(tmp_path, source, ReplaceOps("one_pass"))
    assert why in reason and after == source


EAGER = """\
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
net = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(3)])


def score(model, rows):
    found = []
    for row in rows:
        found.append(model(row[None], training=False).numpy())  # here
    return np.concatenate(found)


result = score(net, np.ones([5, 4], "float32"))
"""

CLASS = """\
import tensorflow as tf


class Scorer:
    def __init__(self):
        self.net = tf.keras.layers.Dense(3)

    def score(self, row):
        return self.net(row)  # here


scorer = Scorer()
result = [scorer.score(tf.ones([1, 4])).shape[1] for _ in range(3)]
"""


@needs_tensorflow
def test_a_model_is_compiled_before_the_loop_that_calls_it(tmp_path: Path) -> None:
    reason, after = patched(tmp_path, EAGER, Compile("model"))
    assert not reason and after == EAGER.replace(
        "    for row", "    model_compiled = tf.function(model, reduce_retracing=True)\n    for row"
    ).replace("model(row", "model_compiled(row")
    np.testing.assert_allclose(run(after)["result"], run(EAGER)["result"], rtol=1e-5)


@needs_tensorflow
def test_a_model_of_an_object_is_compiled_where_it_is_made(tmp_path: Path) -> None:
    _, after = patched(tmp_path, CLASS, Compile("model"))
    made = "        self.net_compiled = tf.function(self.net, reduce_retracing=True)\n"
    assert after == CLASS.replace("Dense(3)\n", f"Dense(3)\n{made}").replace("self.net(row)", "self.net_compiled(row)")
    assert run(after)["result"] == [3, 3, 3]


@pytest.mark.parametrize(
    "source, old, new, why",
    [
        (EAGER, "training=False", "training=row[0] > 0", "whether the model is training"),
        (EAGER, "training=False", "mask=row", "gets mask"),
        (EAGER, "model(row[None], training=False)", "model([1.0, 2.0])", "one tensor or array"),
        (EAGER, "result = score", "for _ in range(3):\n    result = score", "called in a loop"),
        (EAGER, "result = score", "work = [score]\nresult = score", "called in a loop"),
        (EAGER, "    for row in rows:\n", "    for row in rows:\n        model = make()\n", "again and again"),
        (EAGER, "model(row[None], training=False)", "score(net, row)", "no one call"),
        (EAGER, "    found = []", "    model = tf.function(model)\n    found = []", "no one call"),
        (EAGER, "import numpy", "model_compiled = 3\nimport numpy", "a name of the file already"),
        (
            EAGER,
            "result = ",
            "class M(tf.Module):\n    def __call__(self, x):\n        print(x)\n\nresult = ",
            "print()",
        ),
        (CLASS, "scorer = Scorer()", "scorers = [Scorer() for _ in range(2)]", "again and again"),
        (CLASS, "scorer = Scorer()", "KINDS = {'a': Scorer}", "again and again"),
        (CLASS, "    def score", "    def renew(self):\n        self.net = load()\n\n    def score", "made once"),
        (CLASS, "scorer = Scorer()", "", "again and again"),
    ],
)
def test_a_model_that_may_be_another_one_stays_eager(tmp_path: Path, source: str, old: str, new: str, why: str) -> None:
    changed = source.replace(old, new)
    assert changed != source
    if old == "scorer = Scorer()" and not new:
        changed = changed.replace("result = ", "scorer = make()\nresult = ")
        why = "how often"
    reason, after = patched(tmp_path, changed, Compile("model"))
    assert why in reason and after == changed
