"""Uses of tfperfkit.watch, in one process; prints what each gave, as JSON by name. Run by test_watch.py."""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import sys
from pathlib import Path

import tfperfkit

OUT = Path(sys.argv[1])
RESULTS: dict[str, object] = {}


def note(name, run, said):
    RESULTS[name] = {
        "steps": run.report.steps.count if run.report else None,
        "status": run.report.run.status if run.report else None,
        "nested": run.nested,
        "probes": [probe.name for probe in run.report.probes] if run.report else [],
        "findings": len(run.findings),
        "said": said,
    }


@contextlib.contextmanager
def hearing():
    heard = io.StringIO()
    with contextlib.redirect_stderr(heard):
        yield heard


# TensorFlow is imported inside the first watch: it waits for it, as tfperf run does.
with hearing() as heard, tfperfkit.watch(probes=("retrace",), run_dir=OUT / "late") as late:
    import tensorflow as tf

    weight = tf.Variable(tf.ones([4, 1]))
    data = tf.random.normal([64, 4])

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ weight) ** 2)
        weight.assign_sub(1e-3 * tape.gradient(loss, weight))
        return loss

    for _ in range(6):
        train_step(data)
note("tensorflow_imported_inside", late, heard.getvalue())


def train(steps):
    for _ in range(steps):
        train_step(data)
    return "trained"


plain = tfperfkit.watch(train)
with hearing() as heard:
    RESULTS["decorated"] = {"result": plain(7), "name": plain.__name__, "said": heard.getvalue()}

with_arguments = tfperfkit.watch(probes="none", steps=5, run_dir=OUT / "again")(train)
with hearing() as heard:
    with_arguments(9)
    with_arguments(9)
RESULTS["decorated_twice"] = {
    "folders": sorted(path.name for path in OUT.glob("again*")),
    "said": heard.getvalue(),
}

with hearing() as heard, tfperfkit.watch(probes="none", run_dir=OUT / "outer") as outer:
    with tfperfkit.watch(probes="none", run_dir=OUT / "inner") as inner:
        train(3)
    RESULTS["inner_folder"] = (OUT / "inner").exists()
    train(4)
note("inner", inner, "")
note("outer", outer, heard.getvalue())

failure = ValueError("the script's own")
with hearing() as heard:
    try:
        with tfperfkit.watch(probes="none", run_dir=OUT / "failing") as failing:
            train(2)
            raise failure
    except ValueError as error:
        RESULTS["same_exception"] = error is failure
note("failing", failing, heard.getvalue())

# A notebook's cell: its source is known to linecache only.
cell = "for _ in range(8):\n    train_step(data)\n"
linecache.cache["<ipython-input-3-abc>"] = (len(cell), None, cell.splitlines(True), "<ipython-input-3-abc>")
with hearing() as heard, tfperfkit.watch(probes="lines", run_dir=OUT / "cell") as in_cell:
    exec(compile(cell, "<ipython-input-3-abc>", "exec"), {"train_step": train_step, "data": data})
note("notebook_cell", in_cell, heard.getvalue())
RESULTS["cell_definition"] = in_cell.report.steps.definition

for name, arguments in (("unknown_probe", {"probes": "lnes"}), ("no_steps", {"steps": 0})):
    try:
        with tfperfkit.watch(**arguments):
            pass
    except Exception as error:
        RESULTS[name] = f"{type(error).__name__}: {error}"

from tensorflow.python.data.ops import iterator_ops  # noqa: E402
from tensorflow.python.eager.polymorphic_function import polymorphic_function, tracing_compilation  # noqa: E402

RESULTS["restored"] = [
    type(iterator_ops.OwnedIterator.__dict__["__next__"]).__name__,
    type(polymorphic_function.Function.__dict__["_call"]).__name__,
    tracing_compilation._create_concrete_function.__module__,
]
print(json.dumps(RESULTS))
