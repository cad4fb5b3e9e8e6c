"""Bird calls: log-mel spectrograms, small convnet."""
import numpy as np
import tensorflow as tf

RATE, SECONDS, SPECIES = 8000, 2, 6
N_TRAIN, N_VAL, BATCH = 640, 128, 32
MEL = tf.signal.linear_to_mel_weight_matrix(64, 257, RATE, 100.0, 3800.0)


def calls(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(RATE * SECONDS) / RATE
    y = rng.integers(0, SPECIES, n)
    out = np.empty((n, len(t)), "float32")
    for i, s in enumerate(y):
        f0 = 500 + 350 * s + rng.normal(0, 60)
        vib = np.sin(2 * np.pi * (3 + 2 * s) * t + rng.uniform(0, 6))
        gate = (np.sin(2 * np.pi * (1 + 0.5 * s) * t + rng.uniform(0, 6)) > 0)
        out[i] = gate * np.sin(2 * np.pi * f0 * t + 8 * vib) + rng.normal(0, 0.7, len(t))
    return out, y.astype("int32")


def spectrogram(wave, label):
    s = tf.signal.stft(wave, 512, 128)
    mel = tf.tensordot(tf.abs(s), MEL, 1)
    return tf.math.log(mel + 1e-3)[..., None], label


def mask(x, label):
    # one frequency band hidden per batch
    f = tf.random.uniform([], 0, 56, tf.int32, seed=5)
    band = tf.range(64)
    keep = tf.cast((band < f) | (band >= f + 8), x.dtype)
    return x * keep[None, None, :, None], label


def dataset(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)
    ds = ds.map(spectrogram, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(len(x) // BATCH, seed=1).map(mask, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)


def convnet(norm):
    L = tf.keras.layers
    m = tf.keras.Sequential([tf.keras.Input((122, 64, 1)), norm])
    for w in (16, 32, 64):
        m.add(L.Conv2D(w, 3, padding="same", activation="relu"))
        m.add(L.Conv2D(w, 3, padding="same", activation="relu"))
        m.add(L.MaxPooling2D())
    m.add(L.GlobalAveragePooling2D())
    m.add(L.Dropout(0.2))
    m.add(L.Dense(SPECIES))
    return m


tf.keras.utils.set_random_seed(9)
train, val = dataset(*calls(N_TRAIN, 0), True), dataset(*calls(N_VAL, 1), False)
norm = tf.keras.layers.Normalization(axis=None)
norm.adapt(train.map(lambda x, y: x))
model = convnet(norm)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train, validation_data=val, epochs=4, verbose=2)
print("val:", [round(v, 4) for v in model.evaluate(val, verbose=0)])
