"""The two networks and their optimizers.

The generator turns noise into a digit, the discriminator a digit into one
logit: how real it looks.  If batch normalisation follows a layer, the layer has no bias (the normalisation would
subtract it again), and the activation comes after the normalisation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
from keras import layers

#: Length of the noise vector a digit is made from.
NOISE_SIZE = 100


class Networks(NamedTuple):
    """The models and optimizers of a run, each under "generator" and "discriminator"."""

    models: dict[str, Any]
    optimizers: dict[str, Any]


#: The order in which a step updates the two networks.
NAMES = ("generator", "discriminator")


def make_networks(loss_scaling: bool = False) -> Networks:
    """Builds both networks and both optimizers.

    ``loss_scaling`` is for float16, whose small gradients would be rounded to
    zero.  The optimizers' variables are made here: a ``tf.function`` may not
    make variables once it is traced.
    """
    models = {"generator": make_generator(), "discriminator": make_discriminator()}
    optimizers: dict[str, Any] = {
        "generator": keras.optimizers.Adam(0.001),
        "discriminator": keras.optimizers.RMSprop(0.0001),
    }
    for name in NAMES:
        if loss_scaling:
            optimizers[name] = keras.optimizers.LossScaleOptimizer(optimizers[name])
        optimizers[name].build(models[name].trainable_variables)
    return Networks(models, optimizers)


def make_generator() -> Any:
    """Noise [n, 100] to images float32 [n, 28, 28, 1] with values -1 to 1."""
    return keras.Sequential(
        [
            keras.Input((NOISE_SIZE,)),
            layers.Dense(7 * 7 * 64, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Reshape((7, 7, 64)),
            layers.Conv2DTranspose(32, 5, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            # float32 whatever the policy: pictures and losses keep full precision.
            layers.Conv2DTranspose(1, 5, strides=2, padding="same", activation="tanh", dtype="float32"),
        ],
        name="generator",
    )


def make_discriminator() -> Any:
    """Images [n, 28, 28, 1] to logits float32 [n, 1]; above 0 is real."""
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 5, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(64, 5, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dense(1, dtype="float32"),
        ],
        name="discriminator",
    )
