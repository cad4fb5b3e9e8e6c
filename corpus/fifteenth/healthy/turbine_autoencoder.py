"""Train a small 1-D conv autoencoder on turbine vibration windows and flag outliers."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

WINDOW = 256
COUNT = 4096
BATCH = 128
EPOCHS = 45


def vibration(seed, n, faulty=0.0):
    rng = np.random.default_rng(seed)
    t = np.arange(WINDOW) / 1000.0
    f = rng.normal(50, 1.0, (n, 1))
    x = np.sin(2 * np.pi * f * t) + 0.3 * np.sin(2 * np.pi * 3 * f * t)
    bad = rng.random(n) < faulty
    x[bad] += 0.5 * np.sign(np.sin(2 * np.pi * 120 * t))
    x += rng.normal(0, 0.1, x.shape)
    return x.astype("float32")[..., None], bad


def autoencoder():
    return keras.Sequential([
        keras.Input((WINDOW, 1)),
        keras.layers.Conv1D(16, 7, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1D(32, 7, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1D(8, 7, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1DTranspose(32, 7, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1DTranspose(16, 7, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1DTranspose(1, 7, strides=2, padding="same"),
    ])


def main():
    keras.utils.set_random_seed(2)
    x, _ = vibration(0, COUNT)
    train = (tf.data.Dataset.from_tensor_slices(x)
             .cache().shuffle(COUNT, seed=0).batch(BATCH, drop_remainder=True)
             .map(lambda b: (b, b)).prefetch(tf.data.AUTOTUNE))
    model = autoencoder()
    model.compile(keras.optimizers.Adam(2e-3), "mse")
    history = model.fit(train, epochs=EPOCHS, verbose=0)

    test, bad = vibration(1, 1024, faulty=0.1)
    error = np.square(model.predict(test, batch_size=BATCH, verbose=0) - test).mean((1, 2))
    limit = np.quantile(error[~bad], 0.99)
    print("loss %.4f -> %.4f" % (history.history["loss"][0], history.history["loss"][-1]))
    print("threshold %.4f  recall %.3f" % (limit, (error[bad] > limit).mean()))


if __name__ == "__main__":
    main()
