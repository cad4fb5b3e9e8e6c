"""Experiments on what is compiled, with real TensorFlow: functions, gradients of several losses, models compiled
again."""

from __future__ import annotations

from pathlib import Path

from experiment_pieces import BEGIN
from warm import run_warm

COMPILED = """
decorate = decorating("graph:call")
trial = Trial()
eagerly = []

class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense, self.drop = keras.layers.Dense(3), keras.layers.Dropout(0.5)
    def call(self, x, training=False):
        eagerly.append(tf.executing_eagerly())
        return self.drop(self.dense(x), training=training)
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"mean": loss}

class Compiled(Net):
    call = decorate(trial, Net.call)

# Layers are built by the first call; each object has one of its own.
for net in (Compiled(), Compiled()):
    before = trial.count
    for turn in range(3):
        with tf.GradientTape() as tape:
            out = net(tf.ones((40, 5)), training=True)
            loss = tf.reduce_sum(out)
        assert None not in tape.gradient(loss, net.trainable_variables), turn
        assert 20 < tf.math.count_nonzero(out == 0) < 100  # what it was called with is handed on
        assert not tf.math.count_nonzero(net(tf.ones((40, 5))) == 0) and trial.count - before == 2 * turn + 1
assert eagerly.count(True) == 2, eagerly

class Fitted(Net):
    train_step = decorate(trial, Net.train_step)

# Keras compiles what calls it.
net, before = Fitted(), trial.count
net.compile("sgd")
assert net.fit(np.ones((64, 5)), np.ones((64, 3)), verbose=0).history["mean"][0] > 0
assert trial.count == before and trial.reason == "what calls the function is compiled already", trial.reason

@tf.function
def _outer(x): return prepared(x)
def prepare(rows): return tf.reduce_sum(tf.constant(rows, dtype=tf.float32)), tf.constant(rows, shape=(2, 3))
prepared = decorate(trial, prepare)
rows = rng.random((2, 3))
with changing("graph:prepare")(trial):
    found = [prepared(rows), prepared(rows), _outer(rows)]
near(found[0], found[1])
near(found[0], found[2])
"""

GRADIENTS = """
install = changing("one-gradient")
rows = rng.normal(size=(50, 6)).astype("float32")

def trained(collected, persistent=True):
    keras.utils.set_random_seed(1)
    net = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(6)])
    net(rows)
    optimizer = keras.optimizers.SGD(0.001)
    @tf.function
    def step(x):
        with tf.GradientTape(persistent=persistent) as tape:
            out, hidden = net(x), net.layers[0](x)
            losses = tf.reduce_mean((out - x) ** 2), tf.reduce_mean(tf.abs(out)), tf.reduce_mean(hidden)
        weights = net.trainable_variables
        if not persistent:
            total = tape.gradient(losses[0], weights)
        elif collected:
            found = [tape.gradient(loss, weights) for loss in losses]
            total = [tf.add_n([item for item in each if item is not None]) for each in zip(*found)]
        else:
            total = [tf.zeros_like(weight) for weight in weights]
            for loss in losses:
                found = tape.gradient(loss, weights)
                total = [a if b is None else a + b for a, b in zip(total, found)]
        optimizer.apply_gradients(zip(total, weights))
    for turn in range(4):
        step(tf.constant(rows))
    return [weight.copy() for weight in net.get_weights()]

for collected in (False, True):
    plain, changed, count = both(install, lambda: trained(collected), not collected)
    assert count == 2, count
    near(plain, changed)
assert both(install, lambda: trained(False, False))[2] == 0
"""

RECOMPILED = """
install = changing("one-model")
real = rng.normal(size=(16, 20)).astype("float32")

def adversaries(make):
    keras.utils.set_random_seed(1)
    dice = np.random.default_rng(1)
    maker = keras.Sequential([keras.Input((10,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(20)])
    layers = [keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.2, seed=3), keras.layers.Dense(1, "sigmoid")]
    judge = keras.Sequential([keras.Input((20,)), *layers])
    entry = keras.Input((10,))
    both_of_them = keras.Model(entry, judge(maker(entry)))
    seen = []
    for turn in range(3):
        noise = dice.normal(size=(16, 10)).astype("float32")
        judge.trainable = True
        judge.compile(make(dice), "binary_crossentropy", metrics=["accuracy"])
        x, y = np.concatenate([real, maker(noise)]), np.repeat([[1.0], [0.0]], 16, axis=0)
        seen += [float(item) for _ in range(2) for item in judge.train_on_batch(x, y)]
        judge.trainable = False
        both_of_them.compile(make(dice), "binary_crossentropy")
        seen += both_of_them.fit(noise, np.ones((16, 1)), verbose=0).history["loss"]
    return np.array(seen), [weight.copy() for weight in both_of_them.get_weights()]

for make, expected in (
    (lambda dice: "adam", 4), (lambda dice: keras.optimizers.Adagrad(0.1), 4),
    (lambda dice: keras.optimizers.Adam(0.01 * dice.random()), 0),  # another rate each time
):
    plain, changed, count = both(install, lambda: adversaries(make))
    assert count == expected, count
    same(plain, changed)
"""


def test_what_is_compiled_keeps(tmp_path: Path) -> None:
    done = run_warm(BEGIN + COMPILED + GRADIENTS + RECOMPILED, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
