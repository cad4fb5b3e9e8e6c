"""Experiments that compute in another way, with real TensorFlow: what they keep of the results."""

from __future__ import annotations

from pathlib import Path

import experiment_pieces
import pytest
from warm import run_warm

BEGIN = experiment_pieces.BEGIN + "trial = Trial()\n"

BATCHES = """
install = changing("batch-as-call")
batches = [(rng.normal(size=(8, 5)), rng.integers(0, 2, 8)) for _ in range(6)]
weights = rng.uniform(size=8)

def trained():
    keras.utils.set_random_seed(1)
    layers = [keras.layers.Dense(4), keras.layers.Dropout(0.5), keras.layers.Dense(2)]
    model = keras.Sequential([keras.Input((5,)), *layers])
    seen = []
    for rate in (0.1, 0.01):
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(rate), loss, metrics=["accuracy"])
        for x, y in batches:
            seen.append(model.train_on_batch(x, y))
        seen.append(list(model.train_on_batch(x, y, sample_weight=weights, return_dict=True).values()))
        seen.append(model.train_on_batch(x, y, class_weight={0: 1.0, 1: 2.0}))
        for x, y in batches:
            history = model.fit(x, y, verbose=0, shuffle=False)
            seen.append([history.history[name][0] for name in ("loss", "accuracy")])
        seen.append([model.fit(x, y, verbose=0, shuffle=False, epochs=2).history["loss"][1], 0.0])
    return np.array(seen, "float64"), [value.copy() for value in model.get_weights()]

plain = trained()
with install(trial):
    changed = trained()
again = trained()
assert trial.count == 2 * (6 + 6), trial.count  # all but the first after each compile, class weights, two epochs
for other in (changed, again):
    assert (plain[0] == other[0]).all(), (plain[0], other[0])
    assert all((one == two).all() for one, two in zip(plain[1], other[1]))
"""

ROWS = """
install = changing("update-rows")
# Each batch holds all rows, some twice: then lazy Adam is Adam.
indices = np.array([0, 1, 2, 3, 4, 2, 0, 4])
wanted = rng.normal(size=(8, 3))

def trained(rows):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((), dtype="int32"), keras.layers.Embedding(rows, 3), keras.layers.Dense(3)])
    model.compile(keras.optimizers.Adam(0.1), "mse")
    losses = [model.train_on_batch(indices, wanted) for _ in range(12)]
    return np.array(losses), model.get_weights()[0]

plain, more = trained(5), trained(9)
with install(trial):
    changed, beyond = trained(5), trained(9)
assert trial.count > 0
np.testing.assert_allclose(plain[0], changed[0], rtol=1e-4)
np.testing.assert_allclose(plain[1], changed[1], rtol=1e-3, atol=1e-5)
np.testing.assert_allclose(more[0], beyond[0], rtol=1e-4)  # rows that nobody touches
np.testing.assert_allclose(more[1], beyond[1], rtol=1e-3, atol=1e-5)
"""

MAPS = """
install = changing("vectorized-map")
windows = tf.constant(rng.normal(size=(20, 6)), tf.float32)

def scaled(row):
    return row / tf.norm(row)

def turned(row):  # AutoGraph converts what is mapped, as before; this can't be vectorised
    if tf.reduce_sum(row) > 0:
        row = -row
    return row

def computed():
    one = tf.function(lambda: tf.map_fn(scaled, windows))()
    other = tf.function(lambda: tf.map_fn(turned, windows))()
    many = tf.function(lambda: tf.map_fn(lambda pair: pair[0] * pair[1], (windows, windows), tf.float32))()
    return one.numpy(), other.numpy(), many.numpy(), tf.map_fn(tf.reduce_sum, windows).numpy()

plain = computed()
with install(trial):
    changed = computed()
assert trial.count == 1, trial.count  # nor the one with a signature and the eager one
for one, two in zip(plain, changed):
    np.testing.assert_allclose(one, two, rtol=1e-5)
"""

ALONE = """
install = changing("no-strategy")
rows = rng.normal(size=(64, 5)).astype("float32")

def trained(make):
    keras.utils.set_random_seed(1)
    strategy = make()
    with strategy.scope():
        model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(4), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    losses = model.fit(rows, rows[:, :1], epochs=2, verbose=0).history["loss"]
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(rows).batch(16))
    run = tf.function(lambda x: strategy.reduce("SUM", strategy.run(lambda y: tf.reduce_mean(model(y)), (x,)), None))
    means = [float(run(batch)) for batch in data]
    inside = strategy.run(lambda: float(tf.distribute.get_replica_context().num_replicas_in_sync))
    return losses + means + [sum(strategy.experimental_local_results(inside)), strategy.num_replicas_in_sync]

for make in (tf.distribute.MirroredStrategy, lambda: tf.distribute.OneDeviceStrategy("/cpu:0")):
    plain, before = trained(make), trial.count
    with install(trial):
        changed = trained(make)
    assert trial.count > before + 5, trial.count
    assert plain == changed, (plain, changed)
"""

EPOCHS = """
install = changing("longer-epochs=3")
rows = rng.normal(size=(20, 5)).astype("float32")

def trained(*data, **options):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.1), "mse")
    history = model.fit(*data, epochs=6, shuffle=False, verbose=0, **options).history["loss"]
    return len(history), int(model.optimizer.iterations), [value.copy() for value in model.get_weights()]

dataset = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(8)
ways = [((rows, rows[:, :1]), {"batch_size": 8}), ((dataset,), {})]
refused = [((rows, rows[:, :1]), {"validation_split": 0.5}), ((dataset.repeat(),), {"steps_per_epoch": 3})]
for place, (data, options) in enumerate(ways + refused):
    plain, before = trained(*data, **options), trial.count
    with install(trial):
        changed = trained(*data, **options)
    fewer = place < len(ways)
    assert trial.count - before == fewer and changed[0] == (2 if fewer else 6), changed[0]
    assert plain[1] == changed[1]
    assert all((one == two).all() for one, two in zip(plain[2], changed[2]))
"""
IDS = ["batch-as-call", "update-rows", "vectorized-map", "no-strategy", "longer-epochs"]


@pytest.mark.parametrize("text", [BATCHES, ROWS, MAPS, ALONE, EPOCHS], ids=IDS)
def test_results(text: str, tmp_path: Path) -> None:
    done = run_warm(BEGIN + text, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
