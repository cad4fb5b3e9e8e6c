"""Keyword spotter: small conv net on band energies of one-second clips.

One pass over a large stream of randomly cropped clips (never the same crop
twice), then accuracy on a fixed evaluation set.
"""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

RATE = 8000
CLIP = 10_000
CROP = 8000
FRAME = 256
HOP = 128
BANDS = 24
WORDS = 6
TRAIN_CLIPS = 600
STREAM = 4200
BATCH = 32
FRAMES = 1 + (CROP - FRAME) // HOP

edges = np.unique(np.geomspace(2, FRAME // 2, BANDS + 1).round().astype(int))
BANDS = len(edges) - 1
window = np.hanning(FRAME).astype("float32")


def make_clips(n, seed):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, WORDS, n)
    t = np.arange(CLIP) / RATE
    pitch = 250 * (1.35 ** words)[:, None] * rng.normal(1, 0.03, (n, 1))
    glide = 1 + 0.15 * ((words % 2) * 2 - 1)[:, None] * t
    clips = np.sin(2 * np.pi * pitch * glide * t) + rng.normal(0, 0.7, (n, CLIP))
    return clips.astype("float32"), words.astype("int64")


def crop(clip, word, seed):
    start = tf.random.stateless_uniform([], seed, 0, CLIP - CROP, tf.int32)
    return clip[start:start + CROP], word


def band_energies(wave):
    out = np.empty((FRAMES, BANDS), dtype="float32")
    for f in range(FRAMES):
        spectrum = np.abs(np.fft.rfft(wave[f * HOP:f * HOP + FRAME] * window)) ** 2
        for b in range(BANDS):
            out[f, b] = np.log(spectrum[edges[b]:edges[b + 1]].sum() + 1e-3)
    return out


def to_bands(wave, word):
    bands = tf.numpy_function(band_energies, [wave], tf.float32)
    bands = tf.ensure_shape(bands, [FRAMES, BANDS])
    return bands[..., None], word


def training_stream(clips, words):
    order = np.random.default_rng(5).integers(0, len(clips), STREAM)
    source = tf.data.Dataset.from_tensor_slices(order)
    seeds = tf.data.Dataset.range(STREAM).map(lambda k: tf.stack([k, k * 7 + 1]))
    clips, words = tf.constant(clips), tf.constant(words)
    ds = tf.data.Dataset.zip(source, seeds)
    ds = ds.map(lambda i, s: crop(clips[i], words[i], s), num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.map(to_bands, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def evaluation_set(clips, words):
    ds = tf.data.Dataset.from_tensor_slices((clips[:, :CROP], words))
    ds = ds.map(to_bands, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def build():
    tf.keras.utils.set_random_seed(0)
    return tf.keras.Sequential([
        layers.Input((FRAMES, BANDS, 1)),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(WORDS),
    ])


def main():
    model = build()
    model.compile(tf.keras.optimizers.Adam(3e-3),
                  tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(training_stream(*make_clips(TRAIN_CLIPS, 1)), epochs=1, verbose=2)
    loss, acc = model.evaluate(evaluation_set(*make_clips(320, 2)), verbose=0)
    print(f"evaluation loss {loss:.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
