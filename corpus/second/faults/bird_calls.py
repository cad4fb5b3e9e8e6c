"""Average spectrogram of each species recorded at one station."""
import numpy as np
import tensorflow as tf

STATION = 3
SPECIES = 5
CLIPS = 5500
RATE = 8000

rng = np.random.default_rng(64)
species = rng.integers(0, SPECIES, CLIPS).astype("int32")
station = rng.integers(0, 10, CLIPS).astype("int32")
pool = rng.normal(scale=0.1, size=(50, RATE * 2)).astype("float32")
mel = tf.signal.linear_to_mel_weight_matrix(64, 513, RATE, 60.0, 3800.0)


def load(number, species, station):
    t = tf.range(RATE * 2, dtype=tf.float32) / RATE
    pitch = 400.0 + 300.0 * tf.cast(species, tf.float32)
    noise = tf.gather(pool, number % 50)
    return tf.sin(2 * np.pi * pitch * t) + noise, species, station


def to_image(wave, species, station):
    spectrum = tf.abs(tf.signal.stft(wave, frame_length=1024, frame_step=64))
    return tf.math.log(tf.matmul(spectrum, mel) + 1e-4), species, station


def build():
    return (
        tf.data.Dataset.from_tensor_slices((np.arange(CLIPS), species, station))
        .map(load, num_parallel_calls=tf.data.AUTOTUNE)
        .map(to_image, num_parallel_calls=tf.data.AUTOTUNE)
        .filter(lambda image, species, station: station == STATION)
        .batch(32)
        .prefetch(tf.data.AUTOTUNE)
    )


@tf.function
def accumulate(sums, counts, images, species):
    sums = sums + tf.math.unsorted_segment_sum(images, species, SPECIES)
    counts = counts + tf.math.bincount(species, minlength=SPECIES, dtype=tf.float32)
    return sums, counts


frames = (RATE * 2 - 1024) // 64 + 1
sums, counts = tf.zeros([SPECIES, frames, 64]), tf.zeros([SPECIES])
for images, kinds, _ in build():
    sums, counts = accumulate(sums, counts, images, kinds)
means = sums / counts[:, None, None]
print("clips used", int(tf.reduce_sum(counts)))
print("loudest band per species", tf.argmax(tf.reduce_mean(means, axis=1), axis=1).numpy())
