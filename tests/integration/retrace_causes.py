"""Run by test_retrace_causes.py in a process of its own: one function for each cause, each with its own recording.

Writes ``OUT/<cause>.json``: the ProbeResult of the retrace probe, and what the rule finds in its data.
``python retrace_causes.py OUT``.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import tensorflow as tf
from tfperfkit_probes.retrace.probe import RetraceProbe
from tfperfkit_rules.retrace.avoidable import avoidable_traces

from tfperfkit import clock
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.graphs import tracing
from tfperfkit.model import RunInfo
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.testing import FakeRecording, capture_of, evidence_of

CAUSES: list[Callable[[Run], None]] = []


class Run:
    """A recording, and the steps that the cause's loop makes."""

    def __init__(self, folder: Path) -> None:
        self.recording = FakeRecording(folder)
        self.steps: list[Step] = []
        self.facts: dict[str, object] = {}

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        number = len(self.steps) + 1
        self.recording.begin_step(number)
        begin = clock.now_ns()
        yield
        time.sleep(0.001)
        window = "warmup" if number <= 2 else "clean"
        self.steps.append(Step(number, begin, clock.now_ns(), window=window))


def cause(function: Callable[[Run], None]) -> Callable[[Run], None]:
    CAUSES.append(function)
    return function


@cause
def python_value(run: Run) -> None:
    @tf.function
    def train_step(x, lr):
        return x * lr

    for index in range(5):
        with run.step():
            train_step(tf.ones([4]), 0.1 * index)


@cause
def python_value_healthy(run: Run) -> None:
    @tf.function
    def train_step(x, lr, training=True):
        return x * lr if training else x

    for index in range(5):
        with run.step():
            train_step(tf.ones([4]), tf.constant(0.1 * index))
            train_step(tf.ones([4]), tf.constant(0.1 * index), training=False)


@cause
def shape(run: Run) -> None:
    @tf.function
    def train_step(x):
        return tf.reduce_sum(x)

    for size in (32, 32, 17, 32, 9):
        with run.step():
            train_step(tf.ones([size, 100]))


@cause
def shape_healthy(run: Run) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 100])])
    def train_step(x):
        return tf.reduce_sum(x)

    for size in (32, 32, 17, 32, 9):
        with run.step():
            train_step(tf.ones([size, 100]))


@cause
def length(run: Run) -> None:
    @tf.function
    def train_step(batch):
        return tf.reduce_sum(batch["tokens"])

    for size in (10, 12, 14, 16, 18):
        with run.step():
            train_step({"tokens": tf.ones([8, size])})


@cause
def rank(run: Run) -> None:
    @tf.function
    def train_step(x):
        return tf.reduce_sum(x)

    for dims in (1, 2, 3):
        with run.step():
            train_step(tf.ones([2] * dims))


@cause
def dtype(run: Run) -> None:
    @tf.function
    def train_step(x):
        return tf.reduce_sum(x)

    for kind in (tf.float32, tf.float64, tf.int32):
        with run.step():
            train_step(tf.ones([4], kind))


@cause
def structure(run: Run) -> None:
    @tf.function
    def train_step(inputs):
        return tf.add_n(inputs)

    for count in (2, 3, 4):
        with run.step():
            train_step([tf.ones([3])] * count)


@cause
def keyword(run: Run) -> None:
    @tf.function
    def train_step(x, *rest, **named):
        return tf.add_n([x, *rest, *named.values()])

    one = tf.ones([3])
    with run.step():
        train_step(one)
    with run.step():
        train_step(one, weights=one)
    with run.step():
        train_step(one, weights=one, mask=one)
    with run.step():
        train_step(one, one, weights=one)


class Settings:
    scale = 2.0


@cause
def object_identity(run: Run) -> None:
    @tf.function
    def train_step(x, settings):
        return x * settings.scale

    for _ in range(4):
        with run.step():
            train_step(tf.ones([3]), Settings())


@cause
def object_identity_healthy(run: Run) -> None:
    @tf.function
    def train_step(x, settings):
        return x * settings.scale

    first, second, third = Settings(), Settings(), Settings()
    for _ in range(4):
        with run.step():
            for settings in (first, second, third):
                train_step(tf.ones([3]), settings)


def plain_step(x):
    return x + 1


@cause
def new_function_in_a_loop(run: Run) -> None:
    for _ in range(4):
        with run.step():
            made = tf.function(plain_step)
            made(tf.ones([3]))


@cause
def new_nested_function_in_a_loop(run: Run) -> None:
    # No step is known here: the loop shows by its one call site.
    for _ in range(4):

        @tf.function
        def nested_step(x):
            return x + 1

        nested_step(tf.ones([3]))


def make_step(scale):
    @tf.function
    def factory_step(x):
        return x * scale

    return factory_step


@cause
def new_function_healthy(run: Run) -> None:
    steps = [make_step(1.0), make_step(2.0), make_step(3.0)]
    for _ in range(4):
        with run.step():
            for step in steps:
                step(tf.ones([3]))


class Model(tf.Module):
    @tf.function
    def predict(self, x):
        return x * 2.0


@cause
def one_function_per_instance(run: Run) -> None:
    for _ in range(4):
        with run.step():
            model = Model()
            model.predict(tf.ones([3]))


@cause
def one_function_per_instance_healthy(run: Run) -> None:
    layers = [Model() for _ in range(6)]
    for _ in range(4):
        with run.step():
            x = tf.ones([3])
            for layer in layers:
                x = layer.predict(x)


@cause
def strategy_scope(run: Run) -> None:
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    @tf.function
    def train_step(x):
        return x + 1

    with run.step():
        train_step(tf.ones([3]))
    with run.step(), strategy.scope():
        train_step(tf.ones([3]))


@cause
def replica_device(run: Run) -> None:
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    @tf.function
    def replica_step(x):
        return x + 1

    def each(x):
        return replica_step(x)

    @tf.function
    def train_step(x):
        return strategy.run(each, args=(x,))

    for _ in range(3):
        with run.step():
            train_step(tf.ones([3]))


@cause
def strategy_run_of_a_function(run: Run) -> None:
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    @tf.function
    def train_step(x):
        return x + 1

    for size in (8, 5, 3):
        with run.step():
            strategy.run(train_step, args=(tf.ones([size]),))


@cause
def enclosing_graph(run: Run) -> None:
    @tf.function
    def train_step(x):
        return x + 1

    with run.step():
        train_step(tf.ones([3]))
    for _ in range(2):
        with run.step(), tf.Graph().as_default():
            train_step(tf.ones([3]))


@cause
def reduce_retracing(run: Run) -> None:
    @tf.function(reduce_retracing=True)
    def train_step(x):
        return tf.reduce_sum(x)

    for size in (32, 17, 9, 5):
        with run.step():
            train_step(tf.ones([size, 4]))


@cause
def failing_trace(run: Run) -> None:
    @tf.function
    def train_step(x):
        raise KeyError("mine")

    for _ in range(3):
        with run.step():
            try:
                train_step(tf.ones([3]))
            except KeyError as error:
                run.facts["filtered"] = "".join(traceback.format_exception(error))
    tf.debugging.disable_traceback_filtering()
    try:
        train_step(tf.ones([3]))
    except KeyError as error:
        run.facts["unfiltered"] = "".join(traceback.format_exception(error))
    finally:
        tf.debugging.enable_traceback_filtering()


@cause
def variable_creation(run: Run) -> None:
    class Layer(tf.Module):
        w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0)
            return x * self.w

    layer = Layer()
    for _ in range(3):
        with run.step():
            layer(tf.ones([3]))


@cause
def nested(run: Run) -> None:
    @tf.function
    def inner(x):
        time.sleep(0.02)
        return x * 2

    @tf.function
    def outer(x):
        if tf.reduce_sum(x) > 0:  # the call stands in code that AutoGraph converts
            x = inner(x)
        return x

    for size in (2, 3, 4, 2):
        with run.step():
            outer(tf.ones([size]))


@cause
def frameworks(run: Run) -> None:
    import keras
    import numpy as np

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    data = np.ones((10, 3), "float32"), np.ones((10, 2), "float32")
    with run.step():
        model.fit(*data, batch_size=4, verbose=0)
    for _ in range(2):
        with run.step():
            model.fit(*data, batch_size=4, verbose=0)
            model.predict(data[0], verbose=0)


@cause
def pipeline_rebuilt(run: Run) -> None:
    def load(x):
        return x + 1

    for _ in range(5):
        with run.step():
            for _ in tf.data.Dataset.range(3).map(load):
                pass


@tf.function
def made_before(x):
    return x * 2


@cause
def made_and_traced_before_arming(run: Run) -> None:
    for size in (4, 5):
        with run.step():
            made_before(tf.ones([size]))


@cause
def nothing_kept(run: Run) -> None:
    @tf.function
    def short_lived(x):
        return x * 2

    short_lived(tf.ones([3]))
    seen = weakref.ref(short_lived.get_concrete_function(tf.ones([3])))
    graph = weakref.ref(seen().graph)
    captured = [f.filename for op in graph().get_operations() for f in op.traceback]
    run.facts["own_frames_in_operations"] = [name for name in captured if "tfperfkit/instruments" in name]
    del short_lived
    gc.collect()
    run.facts["kept"] = [what for what, ref in (("concrete", seen), ("graph", graph)) if ref() is not None]


@cause
def listener_that_raises(run: Run) -> None:
    def listener(traced: tracing.Traced) -> None:
        raise RuntimeError("ours")

    unsubscribe = tracing.subscribe(listener)
    result = tf.function(lambda x: x + 1)(tf.ones([2]))
    unsubscribe()
    run.facts["result"] = result.numpy().tolist()


def seams() -> dict[str, object]:
    """What happens where TensorFlow is not as we know it, and when listeners come and go."""
    from tensorflow.python.eager.polymorphic_function import tracing_compilation, transform

    facts: dict[str, object] = {}
    original, callbacks = tracing_compilation._create_concrete_function, transform.CONCRETE_FUNCTION_CALLBACKS

    def changed(function_type, type_context, func_graph, options):
        return original(function_type, type_context, func_graph, options)

    seen: list[tracing.Traced] = []
    tracing_compilation._create_concrete_function = changed
    unsubscribe = tracing.subscribe(seen.append)
    tf.function(plain_step)(tf.ones([2]))
    facts["limits"] = seen[0].limits
    facts["limited_concrete"] = seen[0].concrete is not None
    unsubscribe()
    facts["callbacks_left"] = len(callbacks)
    del transform.CONCRETE_FUNCTION_CALLBACKS
    try:
        tracing.subscribe(seen.append)
    except Unavailable as reason:
        facts["unavailable"] = str(reason)
    transform.CONCRETE_FUNCTION_CALLBACKS = callbacks
    tracing_compilation._create_concrete_function = original

    function = tf.function(lambda x: x)
    first: list[bool] = []
    second: list[bool] = []
    leave_first = tracing.subscribe(lambda traced: first.append(traced.function is function))
    leave_second = tracing.subscribe(lambda traced: second.append(traced.function is function))
    function(1)
    function(1)  # on the steady path nothing is told
    leave_first()
    leave_first()
    function(2)
    leave_second()
    function(3)
    facts["first"], facts["second"] = first, second
    facts["restored"] = tracing_compilation._create_concrete_function is original
    return facts


def main(out: Path) -> None:
    devices = tf.config.list_physical_devices("CPU")[:1]
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(devices[0], two)
    from tensorflow.python.eager.polymorphic_function import tracing_compilation
    from tensorflow.python.util import traceback_utils

    original = tracing_compilation._create_concrete_function
    excluded = traceback_utils._EXCLUDED_PATHS
    made_before(tf.ones([4]))
    encoder = msgspec.json.Encoder()
    (out / "seams.json").write_bytes(encoder.encode(seams()))
    for function in CAUSES:
        run = Run(out / function.__name__)
        with RetraceProbe().record(run.recording):
            run.facts["hooked"] = tracing_compilation._create_concrete_function is not original
            function(run)
        run.facts["restored"] = (
            tracing_compilation._create_concrete_function is original and excluded == traceback_utils._EXCLUDED_PATHS
        )
        steps = StepTable(steps=tuple(run.steps), source="custom" if run.steps else "none")
        info = RunInfo(argv=("train.py",), exit_code=0, status="finished", wall_s=10.0)
        result = RetraceProbe().analyze(capture_of(run.recording, steps=steps, run=info))
        sources = {
            file: "\n".join(line.rstrip("\r\n") for line in lines) for file, lines in run.recording.sources.items()
        }
        evidence = evidence_of(steps=steps, wall_s=info.wall_s, data={"retrace": result.data}, sources=sources)
        findings = list(avoidable_traces(evidence))
        document = {"result": result, "findings": findings, "facts": run.facts, "notes": run.recording.notes}
        (out / f"{function.__name__}.json").write_bytes(encoder.encode(document))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
