"""Candidates in TensorFlow: the patched code prints the same as the code before."""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest
from late_tensorflow import needs_tensorflow
from test_candidates import candidate

from tfperfkit.remedy import BatchLoop, ChangeStage, Compile, Hoist, Remedy, ReplaceOps, Rewrite

pytestmark = needs_tensorflow
HEAD = "import numpy as np\nimport tensorflow as tf\n\n"
WINDOWS = """\
series = np.arange(60, dtype=np.float32).reshape(30, 2)
data = tf.data.Dataset.from_tensor_slices(series).window(5, shift=3, drop_remainder=True)
data = data.flat_map(lambda w: w.batch(5, drop_remainder=True))  # here
for window in data.batch(2):
    print(window.shape, window.numpy().sum(axis=(1, 2)))
"""
LOOP = """\
class Model:
    def __init__(self):
        self.kernel = tf.reshape(tf.range(6.0), (3, 2))

    def __call__(self, x, training=False):
        return tf.matmul(x, self.kernel)


def score(model, rows):
    total = []
    for number, row in enumerate(rows):
        if number == 2:
            continue
        y = model(row[None], training=False)[0].numpy()  # here
        total.append((number, y))
    return total


print(score(Model(), np.arange(210, dtype=np.float32).reshape(70, 3)))
print(score(Model(), []))
"""
STRETCH = """\
def relax(state, turns):
    trail = []
    for turn in range(turns):
        force = tf.sin(state) + 0.1 * tf.cast(turn, tf.float32)  # here
        state = state + 0.5 * tf.tanh(force) - tf.square(state) / 9.0
        trail.append(round(float(state[0]), 4))
    return trail, state


print(relax(tf.constant([0.3, 0.2]), 12))
"""
SOLVE = """\
low, main, up = tf.ones([7]), tf.fill([8], 4.0), tf.fill([7], 2.0)
matrix = tf.linalg.diag(main) + tf.linalg.diag(low, k=-1) + tf.linalg.diag(up, k=1)
x = tf.linalg.solve(matrix, tf.range(8.0)[:, None])[:, 0]  # here
print(np.round(x.numpy(), 4))
"""
JACOBIAN = """\
x = tf.reshape(tf.range(6.0), (3, 2))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x**2 + tf.reverse(x, [1])
full = tape.jacobian(y, x)  # here
print(tf.einsum("bibj->bij", full).numpy())
"""
UNROLLED = """\
@tf.function
def simulate(angle):
    seen = tf.TensorArray(tf.float32, size=9)
    for i in range(9):  # here
        angle = angle - 0.1 * tf.sin(angle)
        seen = seen.write(i, angle)
    return seen.stack()


print(np.round(simulate(tf.constant(1.0)).numpy(), 4))
"""
KEPT = """\
class Net:
    def __init__(self):
        self.made = 0

    def table(self, size):
        self.made += 1
        return tf.range(size)

    def look(self, index, size):
        return int(self.table(size)[index])  # here


net = Net()
print([net.look(index, 9) for index in range(5)], net.made {sign} 5)
"""


def run(folder: Path, source: str) -> str:
    """Run code from a file, as AutoGraph needs it, and return what it prints."""
    script = folder / f"script{len(list(folder.iterdir()))}.py"
    script.write_text(source)
    page = io.StringIO()
    with contextlib.redirect_stdout(page):
        runpy.run_path(str(script), run_name="__main__")
    return page.getvalue()


@pytest.mark.parametrize(
    "remedy, body, number",
    [
        (ChangeStage("batch_first"), WINDOWS, 0),
        (BatchLoop(), LOOP, 0),
        (Compile("step"), STRETCH, 0),
        (ReplaceOps("banded"), SOLVE, 0),
        (ReplaceOps("gradient_blocks"), JACOBIAN, 0),
        (Rewrite("unrolled"), UNROLLED, 0),
    ],
)
def test_the_patched_code_prints_the_same(tmp_path: Path, remedy: Remedy, body: str, number: int) -> None:
    after, _ = candidate(tmp_path, HEAD + body, remedy, number)
    printed = run(tmp_path, HEAD + body)
    assert printed and run(tmp_path, after) == printed


@pytest.mark.parametrize("remedy", [Hoist("value"), Rewrite("repeated")])
def test_a_kept_result_is_made_once(tmp_path: Path, remedy: Remedy) -> None:
    source = HEAD + KEPT.replace("{sign}", "==")
    after, _ = candidate(tmp_path, source, remedy)
    assert run(tmp_path, source) == "[0, 1, 2, 3, 4] True\n"
    assert run(tmp_path, after.replace("net.made == 5", "net.made == 1")) == "[0, 1, 2, 3, 4] True\n"
