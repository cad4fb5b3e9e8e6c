"""RET014: steady steps that trace, told with the calls of compile in the loop."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_evidence, make_samples, make_steps
from tfperfkit_rules.retrace.evaluated_again import evaluated_again
from tfperfkit_rules.retrace.unexplained import traced_again
from tfperfkit_rules.retrace.without import saved

from tfperfkit.model import Finding, SourceSpan, Work
from tfperfkit.offers import ComputedStep
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence

SOURCE = """import keras
model = keras.Sequential()
model.compile("adam")
for step in range(20):
    model.compile("adam", "mse")
    model.train_on_batch(x, y)
"""
LINE = [Frame(FILE, 1, "<module>", 6)]
TRACING = make_samples([(40, "tracing", LINE), (10, "graph", LINE)])


def test_compile_in_the_loop_stands_first() -> None:
    spans = [(n * 100 * MS, n * 100 * MS + 80 * MS) for n in range(60)]
    found = list(
        traced_again(
            make_evidence(
                parts_ms={"tracing": 80.0, "graph": 20.0},
                samples=TRACING,
                source=SOURCE,
                tracing=spans,
                steps=make_steps(each_ms=100.0),
            )
        )
    )
    assert [(item.line, item.file) for item in found[0].where] == [(5, FILE), (6, FILE)]
    assert "Call model.compile once" in found[0].advice
    low, high = found[0].gain.bounds or (0, 0)
    assert low < 5.0 <= high + 0.01  # 80 of 100 ms gone


def test_steps_that_trace_because_of_compile_become_as_long_as_the_others() -> None:
    """Each tenth step takes 1 s more, 0.6 s of it tracing: the rest is the first execution and what Python makes."""
    longer = list(range(10, 60, 10))
    begins = [n * 100 * MS + sum(m < n for m in longer) * 1000 * MS for n in range(61)]
    steps = tuple(Step(n + 1, begins[n], begins[n + 1], 1, 0, "warmup" if n < 3 else "clean") for n in range(60))
    traced = traced_again(
        make_evidence(
            parts_ms={"tracing": 52.6, "graph": 135.1},
            samples=TRACING,
            source=SOURCE,
            tracing=[(begins[n], begins[n] + 600 * MS) for n in longer],
            steps=StepTable(steps=steps, source="custom"),
        )
    )
    low, high = next(iter(traced)).gain.bounds or (0, 0)
    assert low == pytest.approx(1 / (1 - 52.6 / 187.7 + 0.02), rel=0.01)
    assert high == pytest.approx(10.7 / 5.7, rel=0.01)


def test_evaluating_traces_again_too_where_compile_is_called_again() -> None:
    inner = Frame(FILE, 1, "<module>", 7, calls=("keras.src.backend.tensorflow.trainer:evaluate",))
    stacks = {1: Stack((inner,), "tensorflow", "tracing", "evaluate"), 2: Stack(tuple(LINE), "tensorflow", "graph")}
    # 0.5 s of tracing behind every tenth step of 100 ms: of 1 s.
    rows = [(n * 50 * MS, 1 if (n // 10) % 20 == 19 else 2) for n in range(1200)]
    evidence = make_evidence(steps=make_steps(each_ms=1000.0), log=SampleLog(stacks, rows))
    (found,) = evaluated_again(evidence)
    times = sum(key == 1 for _, key in rows) // 10
    assert found.seconds == pytest.approx((0.5 * (times - 1), 0.5 * (times - 1)))


HELPED = """import keras
def prepare(model, rate):
    model.compile(keras.optimizers.SGD(rate), "mse")
def other(model):
    model.compile("adam")
for iteration in range(20):
    prepare(model, rate)
    model.fit(x, y)
"""


def test_compile_in_a_function_that_the_loop_calls_and_samples_from_before_the_close_ones() -> None:
    """The samples of the last seconds hold no trace: those of all clean steps tell the line."""
    frame = Frame(FILE, 1, "<module>", 8)
    tracing, computing = Stack((frame,), "keras", "tracing"), Stack((frame,), "keras", "graph")
    steps = make_steps(each_ms=100.0)
    taken = [(step.begin_ns + part * 10 * MS, 1 if part < 8 else 2) for step in steps.clean for part in range(1, 10)]
    evidence = make_evidence(
        parts_ms={"tracing": 80.0, "graph": 20.0},
        samples=make_samples([(68, "graph", [frame])]),
        log=SampleLog({1: tracing, 2: computing}, taken),
        source=HELPED,
        tracing=[(step.begin_ns, step.begin_ns + 80 * MS) for step in steps.clean],
        steps=steps,
    )
    (found,) = traced_again(evidence)
    assert [item.line for item in found.where] == [3, 8]
    assert found.title.startswith("compile() in")


PARTS = """import keras
def train(model, x):
    model.compile("adam", "mse")
    model.fit(x, x)
net = keras.Sequential()
for part in parts:
    {}
"""
CLIENT = """import keras
class Client:
    def {}(self):
        self.model = keras.Sequential()
    def train(self, x):
        self.model.compile("adam", "mse")
        self.model.fit(x, x)
for part in parts:
    client.train(part)
"""


@pytest.mark.parametrize(
    ("source", "fit", "told"),
    [
        (PARTS.format("print(train(net, part))"), 4, True),
        (PARTS.format("train(x=part, model=net)"), 4, True),
        (PARTS.format("train(build(part), part)"), 4, False),  # another model in each iteration
        (PARTS.format("net = build(part); train(net, part)"), 4, False),
        (PARTS.format("for net in nets: train(net, part)"), 4, False),
        (CLIENT.format("__init__"), 7, True),
        (CLIENT.format("renew"), 7, False),
    ],
)
def test_a_function_that_compiles_and_trains_the_same_model_at_each_turn(source: str, fit: int, told: bool) -> None:
    call = source.splitlines().index(source.splitlines()[-1]) + 1
    frames = [Frame(FILE, 1, "<module>", call), Frame(FILE, 2, "train", fit)]
    (found,) = traced_again(
        make_evidence(
            parts_ms={"tracing": 80.0, "graph": 20.0},
            samples=make_samples([(40, "tracing", frames), (10, "graph", frames)]),
            tracing=[(n * 100 * MS, n * 100 * MS + 80 * MS) for n in range(60)],
            steps=make_steps(each_ms=100.0),
            source=source,
        )
    )
    assert found.title.startswith("compile() in") == told
    assert (found.where[0].line == fit - 1) == told


SEARCH = """import keras
for units in (8, 16, 32):
    model = keras.Sequential([keras.layers.Dense(units)])
    model.compile("adam", "mse")
    model.fit(x, y)
"""


def test_a_new_model_in_each_turn_is_what_traces() -> None:
    line = [Frame(FILE, 1, "<module>", 5)]
    spans = [(n * 100 * MS, n * 100 * MS + 80 * MS) for n in range(60)]
    given = {
        "parts_ms": {"tracing": 80.0, "graph": 20.0},
        "samples": make_samples([(40, "tracing", line), (10, "graph", line)]),
        "tracing": spans,
        "steps": make_steps(each_ms=100.0),
    }
    (found,) = traced_again(make_evidence(source=SEARCH, **given))  # type: ignore[arg-type]
    assert found.title == "New model in each iteration of the training loop causes retracing"
    assert found.where[0].line == 3 and "(model = keras.Sequential([keras.layers.Dense(units)]))" in found.advice
    assert "first = [v.numpy() for v in state]" in found.advice and "zeros" not in found.advice
    made = "import keras\ndef part(n):\n    net = build()\n    net.fit(x, y)\nfor n in (8, 16):\n    part(n)\n"
    inner = {**given, "samples": make_samples([(40, "tracing", [Frame(FILE, 5, "part", 4)])])}
    (found,) = traced_again(make_evidence(source=made, **inner))  # type: ignore[arg-type]
    assert "(net = build(), out of part, which gets net as an argument)" in found.advice
    assert "net.optimizer.build(net.trainable_variables)" in found.advice
    helped = "import keras\ndef make(n):\n    m = keras.Sequential()\n    m.compile('adam')\n    return m\n"
    helped += "for n in (8, 16):\n    net = make(n)\n    net.fit(x, y)\n"
    inner = {**given, "samples": make_samples([(40, "tracing", [Frame(FILE, 1, "<module>", 8)])])}
    (found,) = traced_again(make_evidence(source=helped, **inner))  # type: ignore[arg-type]
    assert found.title.startswith("New model in each iteration of the training loop") and found.where[0].line == 7
    assert "Create and compile one model before the loop (net = make(n))" in found.advice
    kept = SEARCH.replace("    model = keras.Sequential([keras.layers.Dense(units)])\n", "    x = x * units\n")
    kept = kept.replace("for units", "model = keras.Sequential()\nfor units")
    (found,) = traced_again(make_evidence(source=kept, **given))  # type: ignore[arg-type]
    assert found.title.startswith("compile() in")


def test_a_jacobian_outside_of_a_compiled_function_is_named() -> None:
    source = (
        "import tensorflow as tf\ndef slopes(x):\n    with tf.GradientTape() as tape:\n        y = f(x)\n"
        "    return tape.jacobian(y, x)\nfor x in points:\n    slopes(x)\n"
    )
    line = [Frame(FILE, 6, "<module>", 7), Frame(FILE, 2, "slopes", 5)]
    (found,) = traced_again(
        make_evidence(
            source=source,
            parts_ms={"tracing": 80.0, "graph": 20.0},
            samples=make_samples([(40, "tracing", line), (10, "graph", line)]),
            tracing=[(n * 100 * MS, n * 100 * MS + 80 * MS) for n in range(60)],
            steps=make_steps(each_ms=100.0),
        )
    )
    assert found.title.startswith("tape.jacobian outside tf.function causes retracing")
    assert found.advice.startswith("Put @tf.function on slopes (line 2)")


def test_a_map_outside_of_a_compiled_function_is_named() -> None:
    source = "import tensorflow as tf\ndef change(rows):\n    return tf.vectorized_map(f, rows)\n"
    source += "for x in xs:\n    change(x)\n"
    called = ("tensorflow.python.ops.parallel_for.control_flow_ops:vectorized_map",)
    line = [Frame(FILE, 1, "<module>", 5), Frame(FILE, 2, "change", 3, (3, 3, 11, 36), called)]
    (found,) = traced_again(
        make_evidence(
            source=source,
            parts_ms={"tracing": 80.0, "graph": 20.0},
            samples=make_samples([(40, "tracing", line), (10, "graph", line)]),
            tracing=[(n * 100 * MS, n * 100 * MS + 80 * MS) for n in range(60)],
            steps=make_steps(each_ms=100.0),
        )
    )
    assert found.title == "tf.vectorized_map outside tf.function causes retracing in the training loop"
    assert found.where[0].line == 3 and found.advice.startswith("Put @tf.function on change (line 2)")


def test_a_method_of_a_dataset_that_traces_in_each_call_is_named() -> None:
    source = "import tensorflow as tf\nfor x in xs:\n    best = data.reduce(0.0, lambda best, y: best + y * x)\n"
    called = ("tensorflow.python.data.ops.dataset_ops:reduce",)
    line = [Frame(FILE, 1, "<module>", 3, (3, 3, 11, 57), called)]
    (found,) = traced_again(
        make_evidence(
            source=source,
            parts_ms={"tracing": 80.0, "graph": 20.0},
            samples=make_samples([(40, "tracing", line), (10, "graph", line)]),
            tracing=[(n * 100 * MS, n * 100 * MS + 80 * MS) for n in range(60)],
            steps=make_steps(each_ms=100.0),
        )
    )
    assert found.title == "Dataset.reduce in the training loop causes retracing"
    assert found.where[0].line == 3 and found.advice.startswith("Call reduce once, before the loop")


MAKE = "import tensorflow as tf\ndef read(path):\n    return tf.data.TFRecordDataset(path).map(parse).map(scale)\n"
BY_MAP = "data = tf.data.Dataset.from_tensor_slices(parts)\ndata = data.flat_map(lambda each: each)\n"


def joined(source: str, *lines: int) -> Finding:
    """Return the finding for a loop that makes datasets at these lines, the outermost first; ``read`` traces."""
    way = [Frame(FILE, 1, "<module>", line, None, ()) for line in lines]
    leaf = [
        Frame(FILE, 1, "read", 3, (3, 3, 11, 46), ("tensorflow.python.data.ops.dataset_ops:map",)),
        Frame(FILE, 1, "read", 3, (3, 3, 11, 57), ("tensorflow.python.data.ops.dataset_ops:filter",)),
    ]
    (found,) = traced_again(
        make_evidence(
            source=MAKE + source,
            parts_ms={"tracing": 80.0, "graph": 20.0},
            samples=make_samples([(20, "tracing", [*way, item]) for item in leaf]),
            tracing=[(n * 100 * MS, n * 100 * MS + 80 * MS) for n in range(60)],
            steps=make_steps(each_ms=100.0),
        )
    )
    return found


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("parts = [read(path) for path in paths]\n" + BY_MAP, 4),
        ("parts = []\nfor path in paths:\n    parts.append(read(path))\n" + BY_MAP, 6),
        ("parts = list(map(read, paths))\n" + BY_MAP.replace("flat_map", "interleave"), 4),
        ("data = read(paths[0])\nfor path in paths:\n    data = data.concatenate(read(path))\n", 6),
    ],
    ids=["comprehension", "append", "interleave", "concatenate"],
)
def test_datasets_that_are_joined_are_made_by_one_dataset(source: str, line: int) -> None:
    found = joined(source, line)
    assert found.title == "read is traced for each of many joined datasets"
    assert "from_tensor_slices(names).flat_map(read)" in found.advice and found.where[0].line == line


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("parts = [read(path) for path in paths]\nfor part in parts:\n    train(part)\n", 4),
        ("parts = [read(path) for path in paths]\n" + BY_MAP.replace(": each", ": each.take(1)"), 4),
        ("for path in paths:\n    train(read(path))\nparts = [first, second]\n" + BY_MAP, 5),
        ("data = read(path).concatenate(read(other))\n", 4),
    ],
    ids=["used one by one", "changed", "others are joined", "two"],
)
def test_datasets_that_are_not_joined_get_no_such_advice(source: str, line: int) -> None:
    assert "flat_map(read)" not in joined(source, line).advice


def test_one_iteration_of_a_work_that_traces_is_no_repetition() -> None:
    """The last block of a loop is smaller than the others."""
    work = Work(kind="loop", where=SourceSpan(FILE, 5), seconds=6.0, share_of_run=0.5, iterations=60)
    for spans, told in (
        ([(5900 * MS, 5990 * MS)], False),
        ([(n * 100 * MS, n * 100 * MS + 9 * MS) for n in range(60)], True),
    ):
        evidence = make_evidence(
            source=SOURCE,
            samples=TRACING,
            parts_ms={"tracing": 9.0, "graph": 91.0},
            tracing=spans,
            steps=make_steps(60, 100.0, warm=0),
        )
        given = evidence.narrowed(
            work=work, steps=evidence.steps, account=evidence.account, samples=evidence.samples, log=evidence.log
        )
        assert bool(list(traced_again(given))) is told


def test_models_that_are_each_traced_once_are_no_fault() -> None:
    """Train several models in a loop, or one after the other."""
    given: dict[str, Any] = {
        "parts_ms": {"tracing": 80.0, "graph": 20.0},
        "tracing": [(n * 500 * MS, n * 500 * MS + 480 * MS) for n in range(1, 12)],
        "steps": make_steps(each_ms=100.0),
    }
    trained = [Frame(FILE, 1, "<module>", 4)]
    over = "import keras\nfor model, name in models:\n    model.compile('adam', 'mse')\n    model.fit(x, y)\n"
    samples = make_samples([(40, "tracing", trained), (10, "graph", trained)])
    assert not list(traced_again(make_evidence(source=over, samples=samples, **given)))
    epochs = over.replace("import keras", "import keras\nfor epoch in range(9):").replace("\n", "\n ").rstrip()
    deeper = make_samples([(40, "tracing", [Frame(FILE, 1, "<module>", 5)])])
    assert list(
        traced_again(make_evidence(source=epochs.replace("\n for epoch", "\nfor epoch"), samples=deeper, **given))
    )
    fits = [[Frame(FILE, 1, "<module>", line), Frame(FILE, 1, "train", 2)] for line in range(4, 64)]
    plain = "def train(model):\n    model.fit(x, y)\n\n" + "".join(f"train(m{n})\n" for n in range(60))
    several = make_samples([(4, "tracing", frames) for frames in fits])
    assert not list(traced_again(make_evidence(source=plain, samples=several, **given)))
    one = make_samples([(40, "tracing", fits[0])])
    assert list(traced_again(make_evidence(source=plain, samples=one, **given))), "one call traces again and again"


APART = """import keras
def make():
    model = keras.Sequential([keras.layers.Dense(8)])
    model.compile("adam", "mse")
    return model
shared = make()
def update(part):
    own = make()
    own.fit(part)
for part in parts:
    update(part)
"""


@pytest.mark.parametrize("model", ["own", "shared"])
def test_a_new_model_in_each_call_of_a_function_is_what_traces(model: str) -> None:
    source = APART.replace("own.fit", f"{model}.fit")
    frames = [Frame(FILE, 1, "<module>", 11), Frame(FILE, 7, "update", 9)]
    (found,) = traced_again(
        make_evidence(
            parts_ms={"tracing": 80.0, "graph": 20.0},
            samples=make_samples([(40, "tracing", frames), (10, "graph", frames)]),
            source=source,
            tracing=[(n * 100 * MS, n * 100 * MS + 80 * MS) for n in range(60)],
            steps=make_steps(each_ms=100.0),
        )
    )
    is_new = model == "own"
    assert found.title.startswith("New model in each call of update") == is_new
    assert found.where[0].line == (8 if is_new else 9)


def test_without_compile_the_tracing_line_is_named() -> None:
    steps = [(n * 100 * MS, n * 100 * MS + 30 * MS) for n in range(60)]
    parts = {"tracing": 30.0, "graph": 70.0}
    found = list(traced_again(make_evidence(parts_ms=parts, samples=TRACING, tracing=steps)))
    assert [item.line for item in found[0].where] == [6] and "57 of 57 clean steps" in found[0].title
    before = [(0, 30 * MS)]  # in the warm-up only
    assert not list(traced_again(make_evidence(parts_ms=parts, samples=TRACING, tracing=before)))


def test_first_traces_are_paid_once_however_late_the_first_call_comes() -> None:
    """Train a generator first in the fifth step, evaluate after ten: nothing goes on being traced."""
    parts = {"tracing": 30.0, "graph": 70.0}
    for spans in ([(500 * MS, 590 * MS)], [(500 * MS, 590 * MS), (1000 * MS, 1090 * MS)], [(5500 * MS, 5590 * MS)]):
        assert not list(traced_again(make_evidence(parts_ms=parts, samples=TRACING, tracing=spans)))
    goes_on = [(n * 1000 * MS, n * 1000 * MS + 90 * MS) for n in range(1, 6)]
    assert list(traced_again(make_evidence(parts_ms=parts, samples=TRACING, tracing=goes_on)))


def test_one_long_call_that_traces_many_functions_once_is_no_repetition() -> None:
    """Saving a model: none of the work is in a loop of the user's."""
    spans = [(n * 100 * MS, n * 100 * MS + 80 * MS) for n in range(60)]
    given: dict[str, Any] = {"parts_ms": {"tracing": 80.0, "graph": 20.0}, "tracing": spans}
    work = Work(kind="call", where=SourceSpan(FILE, 6, "<module>"), seconds=6.0, share_of_run=0.5)

    def make_work(source: str) -> Evidence:
        all_of_it = make_evidence(source=source, samples=TRACING, **given)
        return all_of_it.narrowed(
            work=work,
            steps=all_of_it.steps,
            account=all_of_it.account,
            samples=all_of_it.samples,
            log=all_of_it.log,
        )

    assert not list(traced_again(make_work("import keras\n\n\n\n\nmodel.export(where)\n")))
    assert list(traced_again(make_work(SOURCE)))


def test_silent_where_the_steps_do_not_trace() -> None:
    assert not list(traced_again(make_evidence(parts_ms={"tracing": 1.0, "graph": 99.0}, samples=TRACING)))
    assert not list(traced_again(make_evidence(samples=TRACING)))


def test_the_first_execution_of_a_trace_goes_with_it_and_its_operations_stay() -> None:
    """80 ms of the compiled function's 90 pass without an operation: optimising, making ready."""
    parts = {"tracing": 100.0, "graph": 90.0, "dispatch": 5.0, "gc": 1.0, "input": 4.0}
    seen = ComputedStep(ms=45.0, idle_ms=40.0, waits_ms=0.0, unknown_ms=0.0, operations=())
    found = saved(make_evidence(parts_ms=parts, offers={"lines": (seen,)}))
    assert found is not None and found[:2] == pytest.approx((180 / 200, 186 / 200))


def test_without_a_window_only_the_tracing_is_known() -> None:
    assert saved(make_evidence(parts_ms={"tracing": 100.0, "graph": 100.0})) is None


def test_what_traces_in_all_steps_is_predicted_with_the_first_executions() -> None:
    spans = [(n * 200 * MS, n * 200 * MS + 100 * MS) for n in range(60)]
    parts = {"tracing": 100.0, "graph": 90.0, "dispatch": 5.0, "input": 5.0}
    seen = ComputedStep(ms=45.0, idle_ms=45.0, waits_ms=0.0, unknown_ms=0.0, operations=())
    (finding,) = traced_again(
        make_evidence(
            parts_ms=parts,
            samples=TRACING,
            tracing=spans,
            steps=make_steps(each_ms=200.0),
            offers={"lines": (seen,)},
        )
    )
    assert finding.gain.bounds is not None and finding.gain.bounds[1] == pytest.approx(40.0)
