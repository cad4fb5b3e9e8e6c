"""Denoising autoencoder for small microscopy crops (fit + tf.data)."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE, BATCH, EPOCHS = 48, 32, 4


def crops(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIZE, :SIZE].astype(np.float32)
    out = np.zeros((n, SIZE, SIZE, 1), np.float32)
    for _ in range(5):
        cy, cx = rng.uniform(0, SIZE, (2, n, 1, 1)).astype(np.float32)
        r = rng.uniform(2, 7, (n, 1, 1)).astype(np.float32)
        out[..., 0] += np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r**2))
    return np.clip(out, 0, 1)


def add_noise(clean):
    noisy = clean + tf.random.normal(tf.shape(clean), stddev=0.25)
    return tf.clip_by_value(noisy, 0.0, 1.0), clean


def pipeline(images, training):
    ds = tf.data.Dataset.from_tensor_slices(images)
    if training:
        ds = ds.shuffle(len(images), seed=0)
    ds = ds.batch(BATCH).map(add_noise, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)


def build():
    inp = keras.Input((SIZE, SIZE, 1))
    e1 = layers.Conv2D(24, 3, padding="same", activation="relu")(inp)
    e2 = layers.Conv2D(48, 3, strides=2, padding="same", activation="relu")(e1)
    e3 = layers.Conv2D(64, 3, strides=2, padding="same", activation="relu")(e2)
    d2 = layers.UpSampling2D()(e3)
    d2 = layers.Conv2D(48, 3, padding="same", activation="relu")(layers.Concatenate()([d2, e2]))
    d1 = layers.UpSampling2D()(d2)
    d1 = layers.Conv2D(24, 3, padding="same", activation="relu")(layers.Concatenate()([d1, e1]))
    return keras.Model(inp, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(d1))


def main():
    keras.utils.set_random_seed(0)
    train, val = crops(640, 1), crops(96, 2)
    model = build()
    model.compile(keras.optimizers.Adam(1e-3), loss="mse")
    model.fit(
        pipeline(train, True),
        validation_data=pipeline(val, False).cache(),
        epochs=EPOCHS,
        verbose=2,
        callbacks=[keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)],
    )


if __name__ == "__main__":
    main()
