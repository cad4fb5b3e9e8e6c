"""A potential for small molecules: a network gives the energy, and the forces are its slopes by the atoms' places."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

ATOMS, BATCH = 9, 96


class Potential(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [keras.layers.Dense(128, activation="swish") for _ in range(2)]
        self.last = keras.layers.Dense(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, places):
        hidden = tf.reshape(places - tf.reduce_mean(places, 1, keepdims=True), (-1, ATOMS * 3))
        for layer in self.hidden:
            hidden = layer(hidden)
        return self.last(hidden)[:, 0]

    def forces(self, places):
        with tf.GradientTape() as tape:
            tape.watch(places)
            energy = self(places)
        slopes = tape.jacobian(energy, places)
        return energy, -tf.einsum("iiak->iak", slopes)  # FAULT

    def train_step(self, data):
        places, (energies, forces) = data
        with tf.GradientTape() as tape:
            energy, force = self.forces(places)
            loss = tf.reduce_mean((energy - energies) ** 2) + 10 * tf.reduce_mean((force - forces) ** 2)
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    @property
    def metrics(self):
        return [self.loss_tracker]


rng = np.random.default_rng(3)
places = rng.standard_normal((BATCH * 20, ATOMS, 3)).astype("float32")
energies = (places**2).sum((1, 2)).astype("float32") / 10
forces = (-places / 5).astype("float32")
data = tf.data.Dataset.from_tensor_slices((places, (energies, forces)))
data = data.cache().shuffle(len(places)).batch(BATCH, drop_remainder=True).prefetch(2)
model = Potential()
model.compile(keras.optimizers.Adam(1e-3))
model.fit(data, epochs=4, verbose=2)

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "The forces of each molecule are taken from the whole jacobian of a batch, of which the diagonal is kept"
# codes = ["GRF020"]
# families = ["graph"]
# source = "Stack Overflow and GitHub questions on tape.jacobian being slow for per-example gradients"
# ///
