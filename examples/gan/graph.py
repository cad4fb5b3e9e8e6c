"""The step inside TensorFlow: one ``tf.function``, with no NumPy in it.

Stages ``graph``, ``batch``, ``xla`` and ``mixed`` run ``GraphTrainer``; they
differ in the batch size, the compiler and the number format.  Stage ``shared``
runs ``SharedTrainer``, whose step updates both networks from one forward pass.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from digits import Source, get_dataset
from losses import compute_loss, make_labels
from models import NAMES, NOISE_SIZE, Networks


class GraphTrainer:
    """Updates two networks in turn, in one compiled step."""

    def __init__(self, networks: Networks, source: Source, batch_size: int, seed: int, jit_compile: bool) -> None:
        """Loads the data set and prepares the step; the first call traces it."""
        self.networks = networks
        self.batch_size = batch_size
        # An argument of the step.  If the step found the data set in its
        # surroundings, tracing would copy all of it into the graph.
        self.images = tf.constant(get_dataset(source)[0])
        self.rng = tf.random.Generator.from_seed(seed)
        # Made once, here: a tf.function that is made again for each step traces again.
        self.compiled = tf.function(self.train_step, jit_compile=jit_compile)

    def step(self) -> dict[str, Any]:
        """One update of each network; returns losses and metrics as scalars."""
        results: dict[str, Any] = self.compiled(self.images)
        return results

    def train_step(self, images: Any) -> dict[str, Any]:
        """Both updates; ``images`` is the whole data set, float32 [n, 28, 28, 1]."""
        # This loop runs while tracing, so the graph holds two forward passes.
        for network in NAMES:
            with tf.GradientTape() as tape:
                results = self.forward_pass(images)
                scaled = self.scale(network, results[network])
            variables = self.networks.models[network].trainable_variables
            grads = tape.gradient(scaled, variables)
            self.networks.optimizers[network].apply(grads, variables)
        return results

    def fetch_real_batch(self, images: Any) -> Any:
        """Random real digits, float32 [batch, 28, 28, 1]."""
        indexes = self.rng.uniform([self.batch_size], maxval=tf.shape(images)[0], dtype=tf.int32)
        return tf.gather(images, indexes)

    def forward_pass(self, images: Any) -> dict[str, Any]:
        """Runs both networks once; returns both losses and the discriminator's accuracy."""
        models = self.networks.models
        real = self.fetch_real_batch(images)
        noise = self.rng.uniform([self.batch_size, NOISE_SIZE], minval=-1.0, maxval=1.0)
        fake = models["generator"](noise, training=True)

        real_logits = models["discriminator"](real, training=True)
        fake_logits = models["discriminator"](fake, training=True)

        # A few hundred numbers that never change may well be constants of the graph.
        labels = make_labels(self.batch_size)
        real_loss = compute_loss(real_logits, labels.real)
        fake_loss = compute_loss(fake_logits, labels.fake)

        found_real = tf.reduce_mean(tf.cast(real_logits > 0.0, tf.float32))
        found_fake = tf.reduce_mean(tf.cast(fake_logits <= 0.0, tf.float32))
        return {
            "generator": compute_loss(fake_logits, labels.wanted),
            "discriminator": 0.5 * (real_loss + fake_loss),
            "accuracy": 0.5 * (found_real + found_fake),
        }

    def scale(self, network: str, loss: Any) -> Any:
        """Return a loss as its optimizer wants it: multiplied by the loss scale in float16."""
        optimizer = self.networks.optimizers[network]
        return optimizer.scale_loss(loss) if isinstance(optimizer, keras.optimizers.LossScaleOptimizer) else loss


class SharedTrainer(GraphTrainer):
    """Updates both networks from one forward pass, half the work of two."""

    def train_step(self, images: Any) -> dict[str, Any]:
        """Both updates; ``images`` is the whole data set, float32 [n, 28, 28, 1]."""
        # Persistent, because it is asked for gradients twice.
        with tf.GradientTape(persistent=True) as tape:
            results = self.forward_pass(images)
            scaled = {network: self.scale(network, results[network]) for network in NAMES}
        # Both gradients before either update: the second would otherwise go
        # through weights that the first has changed.
        variables = {network: self.networks.models[network].trainable_variables for network in NAMES}
        grads = {network: tape.gradient(scaled[network], variables[network]) for network in NAMES}
        del tape  # a persistent tape keeps every intermediate result until it goes
        for network in NAMES:
            self.networks.optimizers[network].apply(grads[network], variables[network])
        return results
