"""The step as it is first written: eager, with NumPy in the forward pass.

Stages ``naive`` and ``cached``.  They differ in where ``fetch_real_batch``
finds the digits: ``naive`` loads and normalises the whole data set for every
batch, which is what a line profiler shows at the first look.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from digits import Source, get_dataset
from losses import compute_loss, make_labels
from models import NAMES, NOISE_SIZE, Networks

Array = NDArray[Any]


class EagerTrainer:
    """Updates two networks in turn, operation by operation."""

    def __init__(self, networks: Networks, source: Source, batch_size: int, seed: int, cached: bool) -> None:
        """``cached`` loads the data set here; otherwise each batch does."""
        self.networks = networks
        self.source = source
        self.batch_size = batch_size
        self.rng = np.random.default_rng(seed)
        self.cache: Array | None = get_dataset(source)[0] if cached else None

    def step(self) -> dict[str, Any]:
        """One update of each network; returns losses and metrics as scalars."""
        models, optimizers = self.networks
        for network in NAMES:
            with tf.GradientTape() as tape:
                loss, metrics = self.forward_pass(models["generator"], models["discriminator"])
            variables = models[network].trainable_variables
            grads = tape.gradient(loss[network], variables)
            optimizers[network].apply(grads, variables)
        return {**loss, **metrics}

    def fetch_real_batch(self, batch_size: int) -> Array:
        """Random real digits, float32 [batch, 28, 28, 1]."""
        if self.cache is None:
            x_train, _ = get_dataset(self.source)
        else:
            x_train = self.cache
        indexes = self.rng.integers(0, len(x_train), size=batch_size)
        batch: Array = x_train[indexes]
        return batch

    def forward_pass(self, generator: Any, discriminator: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Runs both networks once; returns both losses and the discriminator's accuracy."""
        batch_size = self.batch_size
        real = self.fetch_real_batch(batch_size)
        noise = self.rng.uniform(-1.0, 1.0, size=[batch_size, NOISE_SIZE]).astype(np.float32)
        fake = generator(noise, training=True)

        real_logits = discriminator(real, training=True)
        fake_logits = discriminator(fake, training=True)

        labels = make_labels(batch_size)
        real_loss = compute_loss(real_logits, labels.real)
        fake_loss = compute_loss(fake_logits, labels.fake)
        discriminator_loss = 0.5 * (real_loss + fake_loss)
        generator_loss = compute_loss(fake_logits, labels.wanted)

        found_real = np.mean(real_logits.numpy() > 0.0)
        found_fake = np.mean(fake_logits.numpy() <= 0.0)
        accuracy = 0.5 * (found_real + found_fake)
        return {"generator": generator_loss, "discriminator": discriminator_loss}, {"accuracy": accuracy}
