"""A denoising autoencoder on small pictures; memory is short, so garbage is collected."""

import gc

import keras
import numpy as np
from keras import layers


class ClearMemory(keras.callbacks.Callback):
    """Memory grew during training; found this on the forum."""

    def on_train_batch_end(self, batch, logs=None):
        gc.collect()


def autoencoder():
    image = keras.Input((32, 32, 1))
    x = layers.Conv2D(16, 3, strides=2, activation="relu", padding="same")(image)
    x = layers.Conv2D(16, 3, strides=2, activation="relu", padding="same")(x)
    x = layers.Conv2DTranspose(16, 3, strides=2, activation="relu", padding="same")(x)
    x = layers.Conv2DTranspose(16, 3, strides=2, activation="relu", padding="same")(x)
    x = layers.Conv2D(1, 3, activation="sigmoid", padding="same")(x)
    model = keras.Model(image, x)
    model.compile(optimizer="adam", loss="binary_crossentropy")
    return model


clean = np.random.default_rng(0).random((1024, 32, 32, 1), dtype="float32")
noisy = np.clip(clean + 0.4 * np.random.default_rng(1).normal(size=clean.shape), 0, 1).astype("float32")
model = autoencoder()
model.fit(noisy, clean, batch_size=32, epochs=3, verbose=2)
print(model.evaluate(noisy, clean, verbose=0))
