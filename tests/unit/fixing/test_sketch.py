"""Sketches of drafts: the user's lines with the change made, or nothing where the change would be wrong."""

from __future__ import annotations

import ast

import pytest

from tfperfkit.fixing.sketch import make_sketch
from tfperfkit.remedy import BatchLoop, CallDirectly, Compile, Every, Hoist, KeepTrace, Remedy, Remove, Rewrite

HEAD = "for step, x in enumerate(data):"
LOOP = """\
for step, x in enumerate(data):
    table = load(path)
    y = model.predict(x, verbose=0)
    log(y)
    print(step)
"""


@pytest.mark.parametrize(
    "remedy, line, before, after",
    [
        (Hoist("file"), 2, f"{HEAD}\n    table = load(path)", f"table = load(path)\n{HEAD}"),
        (Every("print"), 4, "    log(y)", "    if step % 100 == 0:\n        log(y)"),
        (Remove(), 4, "    log(y)\n", ""),
        (CallDirectly("predict"), 3, "model.predict(x, verbose=0)", "model(x, training=False).numpy()"),
    ],
)  # fmt: skip
def test_the_lines_have_the_change(remedy: Remedy, line: int, before: str, after: str) -> None:
    made = "\n".join(make_sketch(remedy, LOOP.splitlines(), line, (1, 5)))
    assert made == LOOP.replace(before, after).rstrip("\n")
    ast.parse(made)


def test_one_call_for_all_iterations() -> None:
    source = "for row in rows:\n    found.append(model.predict(row)[0])\n"
    assert make_sketch(BatchLoop(), source.splitlines(), 2, (1, 2)) == (
        "values = list(rows)",
        "results = model.predict(np.stack(values))",
        "for row, result in zip(values, results):",
        "    found.append(result[0])",
    )


def test_an_iterator_is_made_before_the_loop() -> None:
    source = "for n in range(9):\n    x = next(iter(ds))\n"
    wanted = ("batches = iter(ds.repeat())", "for n in range(9):", "    x = next(batches)")
    assert make_sketch(Hoist("iterator"), source.splitlines(), 2, (1, 2)) == wanted


def test_a_loop_without_a_function_gets_one() -> None:
    source = "for x in data:\n    y = tf.square(x)\n    z = y + 1\n"
    made = make_sketch(Compile("function"), source.splitlines(), 1, (1, 3))
    assert made[:2] == ("@tf.function", "def iteration(x):") and made[-1] == "    iteration(x)"


@pytest.mark.parametrize(
    "remedy, source, line",
    [
        (Hoist("value"), "for n in x:\n    y = f(n)\n", 2),  # differs in each iteration
        (Compile("function"), "def f(self):\n    self.x = g()\n", 2),  # would be set once for each trace
        (Every("read"), "for n in x:\n    y = float(f(n))\n", 2),  # y is needed later
        (BatchLoop(), "for n in x:\n    y = f(3)\n", 2),
        (KeepTrace("instance"), "for n in x:\n    y = f(n)\n", 2),
        (Rewrite(), "for n in x:\n    y = f(n)\n", 2),
        (Hoist("value"), "for n in x:\n    y = (\n", 2),
    ],
)
def test_without_a_right_change_there_is_none(remedy: Remedy, source: str, line: int) -> None:
    assert make_sketch(remedy, source.splitlines(), line, (1, source.count("\n"))) == ()
