"""The experiment ``batch-as-call`` with real Keras: the same losses, metrics and weights, to the bit."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import keras, numpy as np
from tfperfkit_experiments.batch_as_call.install import install

class Trial:
    count = 0
    def when_keras(self, callback): callback()
    def applied(self): self.count += 1

rng = np.random.default_rng(0)
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
    return np.array(seen, "float64"), [value.copy() for value in model.get_weights()]

plain, trial = trained(), Trial()
with install(trial):
    changed = trained()
again = trained()
assert trial.count == 2 * 6, trial.count  # all but the first after each compile, and the class weights
for other in (changed, again):
    assert (plain[0] == other[0]).all(), (plain[0], other[0])
    assert all((one == two).all() for one, two in zip(plain[1], other[1]))
print("the same")
"""


def test_results_are_the_same_to_the_bit() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=240)
    assert done.stdout == "the same\n", done.stderr[-2000:]
