"""Traces for objects, new functions, contexts and frameworks. See ``retrace_causes``."""

from __future__ import annotations

import gc
import time
import traceback
import weakref

import tensorflow as tf
from retrace_run import Run, cause

from tfperfkit.instruments.graphs import tracing


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
        if tf.reduce_sum(x) > 0:  # the call is in code that AutoGraph converts
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
