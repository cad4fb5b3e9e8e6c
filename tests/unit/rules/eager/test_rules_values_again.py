"""EAG017 of values that a method computes again, on made-up evidence."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, one
from tfperfkit_rules.eager.values_again import same_value
from work_builder import frame, sampled, work_evidence

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

SOURCE = """\
import numpy as np
import tensorflow as tf
class Model:
    def __init__(self, rows):
        self.rows = tf.constant(rows)
    def factorise(self):
        return tf.linalg.cholesky(tf.matmul(self.rows, self.rows, transpose_b=True))
    def predict(self, new):
        root = self.factorise()
        return tf.matmul(root, new)
model = Model(np.eye(9))
for step in range(40):
    out = model.predict(tf.constant([[float(step)]] * 9))
    total = out.numpy().sum()
"""


def repeated(
    source: str = SOURCE, *, factorising: int = 150, turns: int = 40, activity: str = "eager_ops", counted: bool = True
) -> Evidence:
    way = (frame(13), frame(9, name="predict"), frame(7, name="factorise", span=(15, 84)))
    other = (frame(13), frame(10, name="predict"))
    return work_evidence(
        source,
        [sampled(factorising, activity, *way), sampled(200 - factorising, "eager_ops", *other)],
        loop=12,
        iterations=40,
        hits={12: turns + 1, 13: turns, 14: turns, 9: turns, 7: turns} if counted else {},
    )


@pytest.mark.parametrize("activity", ["eager_ops", "python"])
def test_a_method_that_factorises_the_same_matrix_in_each_call(activity: str) -> None:
    found = one(same_value(repeated(activity=activity)))
    assert found.title == "self.factorise computes the same in each iteration of line 12"
    assert (found.code, found.where) == ("EAG017", (SourceSpan(FILE, 9, "predict"), SourceSpan(FILE, 12)))
    low, high = found.gain.bounds or (0, 0)
    assert 3 < low < 1 / (1 - 0.75 * 39 / 40) < high
    assert found.advice.startswith("Call self.factorise() once, before line 12 or where its inputs change")


def test_a_loop_that_begins_again_computes_it_once_each_time() -> None:
    again = work_evidence(
        SOURCE,
        [sampled(200, "eager_ops", frame(13), frame(9, name="predict"))],
        loop=12,
        iterations=40,
        hits={12: 50, 13: 40, 14: 40},
    )
    assert one(same_value(again)).gain.bounds == pytest.approx((4, 8), rel=0.1)  # four iterations each time


def test_without_counted_lines_the_iterations_of_the_work_count_if_its_loop_begins_once() -> None:
    assert one(same_value(repeated(counted=False))).gain.bounds == one(same_value(repeated())).gain.bounds
    indented = SOURCE.replace("for step in range(40):", "for run in [1, 2]:\n  for step in range(40):")
    twice = work_evidence(
        indented, [sampled(200, "eager_ops", frame(14), frame(9, name="predict"))], loop=13, iterations=40
    )
    assert not list(same_value(twice))


@pytest.mark.parametrize(
    "evidence",
    [
        repeated(SOURCE.replace("root = self.factorise()", "root = self.factorise(); self.rows = self.rows + 1.0")),
        repeated(SOURCE.replace("    total = out", "    model.rows = tf.constant(np.eye(9) * step); total = out")),
        repeated(SOURCE.replace("tf.matmul(self.rows, self.rows, transpose_b=True)", "tf.random.normal([9, 9])")),
        repeated(SOURCE.replace("self.factorise()", "self.other()")),
        repeated(factorising=5),
        repeated(turns=2),
    ],
    ids=["changed by the call", "changed by the loop", "drawn at random", "unknown", "little", "twice"],
)
def test_it_stays_silent(evidence: Evidence) -> None:
    assert not list(same_value(evidence))


WORDS = """\
import tensorflow as tf
class Captioner:
    def __init__(self, texts):
        self.texts = texts
    def write(self, rows):
        words = []
        while len(words) < 20:
            index = int(tf.argmax(rows[len(words)]))
            if index == 1:
                continue
            words.append(self.texts.get_vocabulary()[index])
        return words
texts = tf.keras.layers.TextVectorization(vocabulary=["a", "b"])
writer = Captioner(texts)
for rows in [tf.eye(20), tf.eye(20)]:
    writer.write(rows)
"""
TABLE = """\
import pandas as pd
table = pd.read_csv("rows.csv")
weights = []
for day in range(40):
    values = table.drop_duplicates().to_numpy()
    weights.append(float(values[day]))
"""
UNIQUE = "pandas.core.frame:drop_duplicates"


def of_a_library(source: str, line: int, span: tuple[int, int], called: str, loop: int) -> Evidence:
    """``called``: the library's function that most samples see below a line."""
    way = [frame(16)] if source.startswith(WORDS[:40]) else []
    seen = frame(line, called, span=span, name="write" if way else "<module>")
    return work_evidence(
        source,
        [sampled(150, "dispatch", *way, seen), sampled(50, "eager_ops", *way, frame(loop + 1))],
        loop=loop,
        iterations=40,
        hits={loop: 42, loop + 1: 40, loop + 2: 40, loop + 3: 2, line: 38},
    )


def test_a_method_of_keras_that_exports_the_same_table_for_each_word() -> None:
    evidence = of_a_library(WORDS, 11, (25, 52), "keras.src.layers.preprocessing.index_lookup:get_vocabulary", 7)
    found = one(same_value(evidence))
    assert found.title == "self.texts.get_vocabulary computes the same in each iteration of line 7"
    assert found.where[0] == SourceSpan(FILE, 11, "write")
    turns = next(row.value for row in found.evidence if row.name.startswith("iterations"))
    assert turns == 20, "a line that few iterations run does not count them"


def test_a_method_of_a_table_whose_class_only_the_run_shows() -> None:
    assert one(same_value(of_a_library(TABLE, 5, (13, 36), UNIQUE, 4))).where[0] == SourceSpan(FILE, 5)


@pytest.mark.parametrize(
    "source",
    [
        TABLE.replace("    weights", "    table.insert(0, str(day), day); weights"),
        TABLE.replace("table.drop", "table[table.day == day].drop"),
        TABLE.replace("drop_duplicates()", "drop_duplicates(inplace=True)"),
        TABLE.replace("    weights.append", "    values[0] = day; weights.append").replace(".drop_duplicates()", ""),
    ],
    ids=["changed", "another part", "changes it", "its array is written to"],
)
def test_a_table_that_differs_is_no_cause(source: str) -> None:
    line = source.split("\n")[4]
    span = line.index("table"), line.index(")") + 1
    called = UNIQUE if "drop_dup" in source else "pandas.core.frame:to_numpy"
    assert not list(same_value(of_a_library(source, 5, span, called, 4)))


def test_an_object_that_is_called_leads_to_its_method() -> None:
    source = (
        "import queue\nimport tensorflow as tf\nclass Front:\n"
        "    def __init__(self, bands):\n        self.bands = bands\n"
        "    def __call__(self, clip):\n        power = tf.abs(tf.signal.stft(tf.constant(clip), 400, 160))\n"
        "        bank = tf.signal.linear_to_mel_weight_matrix(self.bands, power.shape[-1])\n"
        "        return power @ bank\nfront, clips, rows = Front(40), queue.Queue(), []\n"
        "while len(rows) < 40:\n    rows.append(front(clips.get()))\n"
    )
    bank, called = frame(8, name="__call__", span=(15, 81)), frame(12, span=(16, 34))
    found = one(
        same_value(
            work_evidence(
                source,
                [sampled(150, "eager_ops", called, bank), sampled(50, "eager_ops", called, frame(9, name="__call__"))],
                loop=11,
                iterations=40,
                hits={11: 41, 12: 40, 8: 40},
            )
        )
    )
    assert found.title.startswith(
        "tf.signal.linear_to_mel_weight_matrix computes the same in each iteration of line 11"
    )


SEARCH = """\
import numpy as np
import scipy.optimize
def solve(root, rows):
    if root.shape[0] != len(rows):
        raise ValueError("another number of rows")
    return np.linalg.solve(root, rows)
class Surface:
    def __init__(self, kernel):
        self.kernel = np.exp
    def fit(self, rows):
        self.rows = np.copy(rows)
        self.root = np.linalg.cholesky(rows @ rows.T)
    def height(self, x):
        near = self.kernel(-np.square(self.rows - x).sum(1))
        inverse = solve(self.root.T, np.eye(self.root.shape[0]))
        precision = inverse.dot(inverse.T)
        return near @ precision @ near
class Search:
    def __init__(self):
        self.surface = Surface(None)
    def propose(self, rows, starts):
        self.surface.fit(rows)
        def below(x):
            x = x.reshape(1, -1)
            return -self.surface.height(x)
        return [scipy.optimize.minimize(below, x0=start) for start in starts]
"""


def searched(source: str = SEARCH) -> Evidence:
    """Return evidence of a surface that another file optimises with SciPy; no line was counted."""
    outer = Frame("other.py", 1, "<module>", 3, (3, 3, 4, 34), ())
    way = (outer, frame(26, name="propose", span=(16, 56)), frame(25, name="below", span=(20, 42)))
    near = sampled(60, "python", *way, frame(14, name="height", span=(15, 61)))
    inverse = sampled(80, "python", *way, frame(15, name="height", span=(18, 64)))
    product = sampled(60, "python", *way, frame(16, name="height", span=(20, 42)))
    return work_evidence(source, [inverse, product, near], call=26)


def test_a_method_that_inverts_the_same_matrix_each_time_that_scipy_asks_for_a_value() -> None:
    found = one(same_value(searched()))
    assert [place.line for place in found.where] == [15, 16, 26]
    assert found.share_of_step == pytest.approx(0.7)
    assert found.advice == (
        "Call solve(self.root.T, np.eye(self.root.shape[0])) and inverse.dot(inverse.T) once, before line 26 or in "
        "fit, which sets self.root, and keep the results, such as in an attribute of the object."
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        return near @", "        self.root = self.root * 0.5; return near @"),
        ("            x = x.", "            self.surface.root = np.diag(x); x = x."),
        ("            x = x.", "            self.surface.fit(x); x = x."),
        ("np.linalg.solve(root, rows)", "np.linalg.solve(root, rows + np.random.rand())"),
        ("        self.kernel = np.exp", "        self.kernel = kernel"),
        ("        return [scipy", "        self.surface = starts.surface; return [scipy"),
    ],
    ids=["the method changes it", "the function changes it", "fitted each time", "random", "unknown", "another object"],
)
def test_it_is_silent_if_the_matrix_may_change_while_scipy_works(old: str, new: str) -> None:
    assert old in SEARCH
    assert not list(same_value(searched(SEARCH.replace(old, new))))


def test_it_is_silent_if_the_file_derives_a_class_with_another_matrix() -> None:
    other = "class Moving(Surface):\n    def height(self, x):\n        self.root = x\n        return 0.0\n"
    assert not list(same_value(searched(SEARCH + other)))
