"""Ways in which people write a training loop, each watched on its own; prints what was counted, as JSON by name.

Run by test_step_patterns.py in one process: TensorFlow's start is what costs here.
"""

from __future__ import annotations

import json
import os
import sys

import keras
import numpy as np
import tensorflow as tf

import tfperfkit

two = [tf.config.LogicalDeviceConfiguration()] * 2  # without them the two replicas wait for each other for ever
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], two)
X = np.random.RandomState(0).rand(120, 6).astype("float32")
Y = X.sum(1, keepdims=True)
RESULTS = {}


def model():
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])


def pattern(function):
    folder = os.path.join(sys.argv[1], function.__name__)
    sys.stderr.flush()
    with tfperfkit.watch(probes="none", run_dir=folder) as run:
        function()
    steps = run.report.steps
    RESULTS[function.__name__] = {
        "count": steps.count,
        "source": steps.source,
        "definition": steps.definition,
        "batch_size": steps.batch_size,
        "notes": list(run.report.notes),
        "examples_per_s": steps.examples_per_s,
        "median_ms": steps.median_ms,
        "mean_ms": steps.mean_ms,
        "between_ms": steps.account.between_total_ms if steps.account else None,
    }
    return function


def fitted(**compile_arguments):
    net = model()
    net.compile("sgd", "mse", **compile_arguments)
    return net


@pattern
def fit():
    fitted().fit(X, Y, batch_size=12, epochs=3, validation_split=0.5, verbose=0)  # 5 batches an epoch


@pattern
def fit_of_one_example_each():
    small = fitted()
    for n in range(12):
        small.fit(X[n : n + 1], Y[n : n + 1], verbose=0)  # batch_size is 32, unless told


@pattern
def fit_steps_per_execution():
    fitted(steps_per_execution=4).fit(X, Y, batch_size=4, epochs=2, verbose=0)  # 30 batches: 7 times 4 and 2


@pattern
def fit_eagerly():
    fitted(run_eagerly=True).fit(X, Y, batch_size=12, epochs=1, verbose=0)


@pattern
def train_on_batch():
    net = fitted()
    for step in range(9):
        net.train_on_batch(X[step : step + 8], Y[step : step + 8])


@pattern
def gan_by_train_on_batch():
    one, two = fitted(), fitted()
    for _ in range(8):
        one.train_on_batch(X[:8], Y[:8])
        two.train_on_batch(X[:8], Y[:8])


def update(net, optimizer, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables, strict=True))
    return loss


@pattern
def eager_loop():
    net, optimizer = model(), keras.optimizers.SGD()
    for step in range(11):
        update(net, optimizer, X[step : step + 4], Y[step : step + 4])


@pattern
def eager_loop_with_callbacks_of_keras():
    net, optimizer = model(), keras.optimizers.SGD()
    callbacks = keras.callbacks.CallbackList([keras.callbacks.LambdaCallback()], model=net)
    for step in range(11):
        callbacks.on_train_batch_begin(step)
        update(net, optimizer, X[step : step + 4], Y[step : step + 4])
        callbacks.on_train_batch_end(step)


@pattern
def eager_loop_over_dataset_with_evaluation():
    net, optimizer = model(), keras.optimizers.SGD()
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(20, drop_remainder=True)
    for _ in range(3):
        for x, y in data:
            update(net, optimizer, x, y)
        for x, _ in data:
            net(x)


@pattern
def two_optimizers_in_turn():
    nets = {"g": model(), "d": model()}
    optimizers = {name: keras.optimizers.SGD() for name in nets}
    for _ in range(10):
        for name in nets:
            update(nets[name], optimizers[name], X[:4], Y[:4])


@pattern
def wgan_with_five_critic_updates():
    critic, generator = model(), model()
    c_opt, g_opt = keras.optimizers.SGD(), keras.optimizers.SGD()
    for _ in range(6):
        for _ in range(5):
            update(critic, c_opt, X[:4], Y[:4])
        update(generator, g_opt, X[:4], Y[:4])


@pattern
def function_in_a_loop():
    net, optimizer = model(), keras.optimizers.Adam()
    optimizer.build(net.trainable_variables)

    @tf.function
    def train_step(x, y):
        return update(net, optimizer, x, y)

    for _ in range(4):
        for start in range(0, 120, 24):
            train_step(X[start : start + 24], Y[start : start + 24])


@pattern
def raw_assignment_in_a_function():
    weight = tf.Variable(tf.zeros([6, 1]))

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weight - y) ** 2)
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
        return loss

    @tf.function
    def predict(x):
        return x @ weight

    for step in range(13):
        predict(X)
        train_step(X[step : step + 4], Y[step : step + 4])


@pattern
def loop_inside_a_function():
    net, optimizer = model(), keras.optimizers.SGD()
    optimizer.build(net.trainable_variables)
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(10)

    @tf.function
    def train(data):
        for x, y in data:
            update(net, optimizer, x, y)

    for _ in range(3):
        train(data)


@pattern
def loop_inside_a_function_after_steps_by_calls():
    net, optimizer = model(), keras.optimizers.SGD()
    optimizer.build(net.trainable_variables)
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(10)

    @tf.function
    def step(x, y):
        update(net, optimizer, x, y)

    @tf.function
    def epoch(data):
        for x, y in data:
            update(net, optimizer, x, y)

    for _ in range(2):
        for x, y in data:
            step(x, y)
    for _ in range(2):
        epoch(data)


@pattern
def distributed_iterator():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        net, optimizer = model(), keras.optimizers.SGD()
        optimizer.build(net.trainable_variables)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((X, Y)).batch(10))

    @tf.function
    def train_step(x, y):
        return strategy.run(update, args=(net, optimizer, x, y))

    for _ in range(2):
        for x, y in data:
            train_step(x, y)


@pattern
def two_training_loops_one_after_the_other():
    net = model()
    first, second = keras.optimizers.SGD(), keras.optimizers.SGD()
    for _ in range(7):
        update(net, first, X[:4], Y[:4])
    for _ in range(5):
        update(net, second, X[:4], Y[:4])


@pattern
def search_with_a_new_optimizer_per_trial():
    for rate in (0.1, 0.01, 0.001):
        net, optimizer = model(), keras.optimizers.SGD(rate)
        for _ in range(6):
            update(net, optimizer, X[:4], Y[:4])


NET, OPTIMIZER = model(), keras.optimizers.SGD()
OPTIMIZER.build(NET.trainable_variables)


@tf.function
def earlier(x, y):
    return update(NET, OPTIMIZER, x, y)


earlier(X[:8], Y[:8])


@pattern
def function_traced_earlier():
    for _ in range(6):
        earlier(X[:8], Y[:8])


@pattern
def nothing_is_trained():
    net = model()
    for _ in range(5):
        net(X[:4])


print(json.dumps(RESULTS))
