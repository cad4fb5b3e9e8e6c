import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers

RATE = 16000
CLASSES = 8
EPOCHS = 10


def write_clips(folder, n=960):
    """One second clips, stored as WAV files named <label>_<number>.wav."""
    rng = np.random.default_rng(42)
    t = np.arange(RATE) / RATE
    for i in range(n):
        label = i % CLASSES
        f0 = 220 * (1 + label) * rng.uniform(0.97, 1.03)
        wave = 0.4 * np.sin(2 * np.pi * f0 * t) + 0.1 * rng.normal(size=RATE)
        data = tf.audio.encode_wav(tf.constant(wave[:, None], tf.float32), RATE)
        tf.io.write_file(os.path.join(folder, f"{label}_{i}.wav"), data)


MEL = tf.signal.linear_to_mel_weight_matrix(64, 513, RATE, 60.0, 7600.0)


def load_logmel(path):
    audio, _ = tf.audio.decode_wav(tf.io.read_file(path), desired_channels=1, desired_samples=RATE)
    audio = tf.squeeze(audio, -1)
    spec = tf.abs(tf.signal.stft(audio, frame_length=1024, frame_step=64, fft_length=1024))
    mel = tf.math.log(tf.matmul(tf.square(spec), MEL) + 1e-6)
    mel = tf.image.resize(mel[..., None], (48, 64))
    name = tf.strings.split(path, os.sep)[-1]
    label = tf.strings.to_number(tf.strings.split(name, "_")[0], tf.int32)
    return mel, label


def make_dataset(paths, training):
    ds = tf.data.Dataset.from_tensor_slices(paths)
    ds = ds.map(load_logmel, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(1000, seed=0)
    return ds.batch(32).prefetch(tf.data.AUTOTUNE)


def build():
    return Sequential(
        [
            layers.Input((48, 64, 1)),
            layers.BatchNormalization(),
            layers.Conv2D(8, 3, strides=2, activation="relu"),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dropout(0.2),
            layers.Dense(CLASSES),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        write_clips(folder)
        paths = sorted(os.path.join(folder, f) for f in os.listdir(folder))
        np.random.default_rng(1).shuffle(paths)
        train_ds = make_dataset(paths[:800], True)
        val_ds = make_dataset(paths[800:], False)

        model = build()
        model.compile(
            optimizer=tf.keras.optimizers.Adam(3e-3),
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        hist = model.fit(train_ds, validation_data=val_ds, epochs=EPOCHS, verbose=2)
        print("best val accuracy", max(hist.history["val_accuracy"]))


if __name__ == "__main__":
    main()
