"""Patches that the source does not prove: in which order they come, how they are shown, and that none is written."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest
from fixing_builder import FILE, at, finding_at, patch_of

from tfperfkit.fixing.files import Files
from tfperfkit.fixing.patches import Patches
from tfperfkit.fixing.render import show
from tfperfkit.model import Overhead, Report, RunInfo, StepSummary
from tfperfkit.remedy import (
    BatchLoop,
    ChangeStage,
    Compile,
    Hoist,
    KeepTrace,
    Remedy,
    Remove,
    ReplaceOps,
    Rewrite,
)


def candidate(folder: Path, source: str, remedy: Remedy, number: int = 0) -> tuple[str, str]:
    """The file as a candidate of a finding at the marked lines leaves it, and its doubts."""
    (folder / FILE).write_bytes(source.encode())
    patches = Patches(Files({FILE: source.replace("\r\n", "\n").splitlines(keepends=True)}, str(folder)))
    finding = finding_at("XYZ001", *((line, "") for line in at(source)), remedy=remedy)
    found = patches.list_patches("XYZ001", finding)
    assert found[number].is_candidate, found[number].reason
    assert patches.make_patch("XYZ001", finding).is_candidate and patches.after == {}
    ((_, before, after),) = found[number].steps
    assert before == source.encode()
    ast.parse(after)
    return after.decode(), "; ".join(found[number].assumed)


LISTED = """\
import tensorflow as tf


def serve(frames):
    return tf.convert_to_tensor(frames, dtype=tf.float32)  # here
"""


def test_a_candidate_is_shown_apart_and_never_in_a_patch(tmp_path: Path) -> None:
    finding = finding_at("EAG016", *((line, "") for line in at(LISTED)), remedy=ReplaceOps("array"))
    source = LISTED.replace("import t", "import numpy as np\nimport t")
    finding = finding_at("EAG016", *((line, "") for line in at(source)), remedy=ReplaceOps("array"))
    patch, after = patch_of(tmp_path, source, finding)
    assert patch.is_candidate and after == source
    report = Report(
        schema=1,
        run=RunInfo(argv=(FILE,), exit_code=0, status="finished", folder=str(tmp_path)),
        probes=(),
        steps=StepSummary(count=20, source="none"),
        findings=(finding,),
        overhead=Overhead(),
    )
    page = io.StringIO()
    show([patch], Files({FILE: source.splitlines(keepends=True)}, str(tmp_path)), report, page)
    lines = page.getvalue().splitlines()
    assert any(line.startswith("  candidate, not proven: converts the list") for line in lines)
    assert any(line.startswith("  assumed: the list holds arrays") for line in lines)
    assert any("+    return tf.convert_to_tensor(np.asarray(frames)" in line for line in lines)
    assert not any(line.startswith(("+", "-", "@")) for line in lines)  # no tool applies it


def test_what_the_source_proves_comes_first(tmp_path: Path) -> None:
    source = (
        "import tensorflow as tf\n\n\ndef refine(a):  # here\n    return tf.sqrt(a) + 1\n\n\n"
        "for _ in range(9):\n    a = refine(a)\n"
    )
    (tmp_path / FILE).write_text(source)
    patches = Patches(Files({FILE: source.splitlines(keepends=True)}, str(tmp_path)))
    finding = finding_at("EAG008", *((line, "refine") for line in at(source)), remedy=Compile("function"))
    found = patches.list_patches("EAG008", finding)
    assert [patch.is_candidate for patch in found] == [False, True]
    assert "reduce_retracing=True" in found[1].steps[0][2].decode()


METHOD = """\
import numpy as np
import tensorflow as tf


class Ranker:
    def __init__(self, model):
        self.model = model

    def rank(self, user, seen):
        scores = tf.linalg.matvec(self.items(), user).numpy()  # here
        return scores

    def items(self):
        return self.model(np.arange(100))
"""


def test_a_call_in_a_statement_is_kept(tmp_path: Path) -> None:
    after, doubts = candidate(tmp_path, METHOD, Hoist("value"))
    assert "@functools.cache\ndef _items_once(self):\n    return self.items()\n" in after
    assert "tf.linalg.matvec(_items_once(self), user).numpy()" in after
    assert doubts == "self.items() gives the same whenever its arguments are the same"


@pytest.mark.parametrize(
    "call", ["self.rows.append(user)", "np.random.rand(3)", "print(user)", "open(user)", "self.model.fit(user)"]
)
def test_a_call_with_an_effect_is_not_kept(tmp_path: Path, call: str) -> None:
    source = METHOD.replace("tf.linalg.matvec(self.items(), user).numpy()", call)
    finding = finding_at("XYZ001", *((line, "") for line in at(source)), remedy=Hoist("operations"))
    patch, after = patch_of(tmp_path, source, finding)
    assert patch.fixer is None and after == source


def test_the_operations_of_a_session_run_are_made_once(tmp_path: Path) -> None:
    source = (
        "import tensorflow.compat.v1 as tf\n\n\nclass Agent:\n    def act(self, state):\n"
        "        return self.sess.run([self.net.p[0], self.net.v[0]], {self.net.x: state})  # here\n"
    )
    after, _ = candidate(tmp_path, source, Hoist("operations"))
    assert "def _fetches_once(p, v):\n    return [p[0], v[0]]\n" in after
    assert "self.sess.run(_fetches_once(self.net.p, self.net.v), {" in after


WORDS = """\
def generate(self, image):
    for turn in range(9):
        for index in self.step(turn):
            word = self.vectorizer.get_vocabulary()[index]  # here
            print(word)
"""


def test_a_call_goes_before_the_outermost_loop_that_leaves_it_alone(tmp_path: Path) -> None:
    after, doubts = candidate(tmp_path, WORDS, Rewrite("repeated"))
    assert after == (
        "def generate(self, image):\n    get_vocabulary_once = self.vectorizer.get_vocabulary()\n"
        "    for turn in range(9):\n        for index in self.step(turn):\n"
        "            word = get_vocabulary_once[index]  # here\n            print(word)\n"
    )
    assert doubts == "self.vectorizer.get_vocabulary() gives the same in each iteration"
    inner = WORDS.replace("get_vocabulary()", "get_vocabulary(turn)")
    after, _ = candidate(tmp_path, inner, Rewrite("repeated"))
    assert "        get_vocabulary_once = self.vectorizer.get_vocabulary(turn)\n        for index" in after


@pytest.mark.parametrize("call", ["self.words.pop()", "next(self.words)", "self.get_vocabulary(index)", "open('a')"])
def test_a_call_that_differs_in_each_iteration_stays(tmp_path: Path, call: str) -> None:
    source = WORDS.replace("self.vectorizer.get_vocabulary()", call)
    finding = finding_at("EAG017", *((line, "") for line in at(source)), remedy=Rewrite("repeated"))
    patch, after = patch_of(tmp_path, source, finding)
    assert patch.fixer is None and after == source


LOOP = """\
import numpy as np


def embed(model, images):
    found = []
    for name, image in images:
        if image is None:
            continue
        small = image / 255.0
        code = model.predict(small[None], verbose=0)[0]  # here
        found.append((name, code))
    return found
"""


def test_a_loop_of_calls_becomes_one_of_batches(tmp_path: Path) -> None:
    source = LOOP.replace("import numpy as np", "import numpy as np\nimport tensorflow as tf")
    after, doubts = candidate(tmp_path, source, BatchLoop())
    body = after.partition("found = []\n")[2]
    assert body == (
        "    inputs, saved, outputs = [], [], []\n"
        "    for name, image in images:\n"
        "        if image is None:\n"
        "            continue\n"
        "        small = image / 255.0\n"
        "        inputs.append(small[None])\n"
        "        saved.append((name,))\n"
        "    for part in [inputs[at : at + 64] for at in range(0, len(inputs), 64)]:\n"
        "        outputs += [each.numpy() for each in tf.split(model.predict(tf.concat(part, 0), verbose=0), "
        "[len(each) for each in part])]\n"
        "    for ((name,), rows) in zip(saved, outputs):\n"
        "        code = rows[0]  # here\n"
        "        found.append((name, code))\n"
        "    return found\n"
    )
    assert doubts == "the iterations of the loop in line 7 are independent"


@pytest.mark.parametrize(
    "old, new",
    [
        ("small = image / 255.0", "small = image / 255.0 + code.mean()"),
        ("found.append((name, code))", "break"),
        ("code = model", "if name:\n            code = model"),
    ],
)
def test_iterations_that_need_each_other_stay(tmp_path: Path, old: str, new: str) -> None:
    source = LOOP.replace("import numpy as np", "import numpy as np\nimport tensorflow as tf").replace(old, new)
    if old != "code = model":
        source = source.replace("    found = []", "    found, code = [], None")
    finding = finding_at("XYZ001", *((line, "") for line in at(source)), remedy=BatchLoop())
    found = patch_of(tmp_path, source, finding)[0]
    assert found.fixer is None or "many iterations" not in found.fixer.does


def test_lines_of_a_loop_are_compiled(tmp_path: Path) -> None:
    source = (
        "import tensorflow as tf\n\nstate = tf.ones([3])\ntrail = []\nfor turn in range(99):\n"
        "    force = tf.sin(state) + turn * tf.cos(state)  # here\n"
        "    state = state + 0.1 * tf.tanh(force)\n"
        "    trail.append(float(state[0]))\nprint(trail)\n"
    )
    after, doubts = candidate(tmp_path, source, Compile("step"))
    assert after == (
        "import tensorflow as tf\n\nstate = tf.ones([3])\ntrail = []\n"
        "@tf.function(reduce_retracing=True)\ndef compiled_part(state, turn):\n"
        "    force = tf.sin(state) + turn * tf.cos(state)  # here\n"
        "    state = state + 0.1 * tf.tanh(force)\n"
        "    return state\n\n\nfor turn in range(99):\n"
        "    state = compiled_part(state, tf.constant(turn))\n"
        "    trail.append(float(state[0]))\nprint(trail)\n"
    )
    assert doubts == "lines 6 to 7 work on tensors, and a trace of them does the same"


WINDOWS = """\
import tensorflow as tf


def make(series):
    data = tf.data.Dataset.from_tensor_slices(series)
    data = data.window(9, shift=2, drop_remainder=True)
    data = data.flat_map(lambda w: w.batch(9))  # here
    return data.batch(4)
"""


def test_nested_windows_are_gathered(tmp_path: Path) -> None:
    after, doubts = candidate(tmp_path, WINDOWS, ChangeStage("batch_first"))
    assert after == (
        "import tensorflow as tf\n\n\ndef make(series):\n"
        "    data = tf.data.Dataset.range(0, len(series) - 9 + 1, 2)\n"
        "    data = data.map(lambda start, values=tf.constant(series): "
        "tf.gather(values, start + tf.range(9, dtype=tf.int64)))\n"
        "    return data.batch(4)\n"
    )
    assert doubts == "series is one array"


@pytest.mark.parametrize(
    "old, new",
    [
        ("drop_remainder=True", "drop_remainder=False"),
        ("w.batch(9)", "w.batch(3)"),
        ("(series)\n    data =", "((series, series))\n    data ="),
        ("shift=2", "stride=2"),
        ("    return", "    use(data)\n    return"),
    ],
)
def test_other_windows_stay(tmp_path: Path, old: str, new: str) -> None:
    source = WINDOWS.replace(old, new)
    finding = finding_at("INP007", *((line, "") for line in at(source)), remedy=ChangeStage("batch_first"))
    patch, after = patch_of(tmp_path, source, finding)
    assert (patch.fixer is None) == (new != "    use(data)\n    return") and after == source


@pytest.mark.parametrize(
    "remedy, before, after",
    [
        (
            ReplaceOps("gradient_blocks"),
            "full = tape.jacobian(y, x)  # here\nblocks = tf.einsum('bibj->bij', full)",
            "full = tape.batch_jacobian(y, x)  # here\nblocks = full",
        ),
        (
            ReplaceOps("crop"),
            "image = tf.io.decode_jpeg(tf.io.read_file(p), channels=3)  # here\n"
            "tile = tf.image.crop_to_bounding_box(image, y, x, 8, 9)",
            "tile = tf.image.decode_and_crop_jpeg(tf.io.read_file(p), [y, x, 8, 9], channels=3)",
        ),
        (
            ReplaceOps("banded"),
            "m = tf.linalg.diag(d) + tf.linalg.diag(l, k=-1) + tf.linalg.diag(u, k=1)\n"
            "x = tf.linalg.solve(m, r)  # here",
            "x = tf.linalg.tridiagonal_solve((tf.pad(u, [[0, 1]]), d, tf.pad(l, [[1, 0]])), r, "
            'diagonals_format="sequence")  # here',
        ),
        (
            Rewrite("unrolled"),
            "for i in range(2, n):  # here\n    x = x + tf.sin(x)",
            "for i in tf.range(2, n):  # here\n    x = x + tf.sin(x)",
        ),
        (
            KeepTrace("object"),
            "for x in data:\n    step(x, Options(0.1))  # here",
            "options_once = Options(0.1)\nfor x in data:\n    step(x, options_once)  # here",
        ),
        (Remove(), "tf.random.set_seed(3)  # here\nuse(x)", "use(x)"),
        (KeepTrace("shape"), "m.compile('sgd', jit_compile=True)  # here", "m.compile('sgd')  # here"),
        (
            ChangeStage("less_python"),
            "import h5py\nfile = h5py.File('a')\nrows = file['x']\nuse(rows[3])  # here",
            "import h5py\nfile = h5py.File('a')\nrows = file['x'][:]\nuse(rows[3])  # here",
        ),
        (
            KeepTrace("keras"),
            "for x in data:\n    model = make()  # here\n    model.fit(x)",
            "model = make()  # here\nfor x in data:\n    model.fit(x)",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline, indent", [("\n", ""), ("\r\n", "\t")])
def test_idioms(tmp_path: Path, remedy: Remedy, before: str, after: str, newline: str, indent: str) -> None:
    """Also in files with tabs and carriage returns."""

    def lay_out(text: str) -> str:
        text = text.replace("    ", indent or "    ")
        body = "".join(f"{indent}{line}\n" for line in text.splitlines())
        head = "import tensorflow as tf\n" + ("def work(y, x, p, d, l, u, r, data):\n" if indent else "")
        return (head + body).replace("\n", newline)

    made, doubts = candidate(tmp_path, lay_out(before), remedy)
    assert made == lay_out(after) and doubts


@pytest.mark.parametrize("value", ["model.fit(x)", "next(rows)", "open('a')", "make(x)", "np.random.rand(3)"])
def test_what_has_an_effect_is_not_made_before_the_loop(tmp_path: Path, value: str) -> None:
    source = f"import numpy as np\n\nfor x in data:\n    made = {value}  # here\n    use(made)\n"
    finding = finding_at("RET014", *((line, "") for line in at(source)), remedy=KeepTrace("keras"))
    patch, after = patch_of(tmp_path, source, finding)
    assert patch.fixer is None and after == source
