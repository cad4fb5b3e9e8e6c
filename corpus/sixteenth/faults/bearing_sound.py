"""Bearing fault type from short sound clips stored as raw int16 files."""
import os
import tempfile

import numpy as np
import tensorflow as tf

RATE, SECONDS, CLASSES, CLIPS = 16000, 4, 3, 360
EPOCHS, BATCH = 8, 24


def write_clips(folder, seed=2):
    rng = np.random.default_rng(seed)
    t = np.arange(RATE * SECONDS) / RATE
    paths, labels = [], []
    for i in range(CLIPS):
        label = int(rng.integers(CLASSES))
        hum = np.sin(2 * np.pi * rng.uniform(90, 130) * t)
        knock = np.sin(2 * np.pi * (1500 + 900 * label) * t) * (np.sin(2 * np.pi * (9 + 4 * label) * t) > 0.95)
        clip = 0.3 * hum + 0.25 * knock + 0.2 * rng.standard_normal(t.size)
        path = os.path.join(folder, f"clip_{i:04d}.raw")
        (np.clip(clip, -1, 1) * 32000).astype("<i2").tofile(path)
        paths.append(path)
        labels.append(label)
    return np.array(paths), np.array(labels, np.int32)


mel = tf.signal.linear_to_mel_weight_matrix(40, 513, RATE, 60.0, 7600.0)


def read_clip(path, label):
    pcm = tf.io.decode_raw(tf.io.read_file(path), tf.int16)
    return tf.reshape(pcm, [RATE * SECONDS]), label


def log_mel(pcm, label):
    wave = tf.cast(pcm, tf.float32) / 32768.0
    spec = tf.abs(tf.signal.stft(wave, 1024, 128, 1024)) ** 2
    feat = tf.math.log(tf.matmul(spec, mel) + 1e-6)
    feat = (feat - tf.reduce_mean(feat, axis=0)) / (tf.math.reduce_std(feat) + 1e-6)
    feat = tf.nn.avg_pool1d(feat[None], 4, 4, "VALID")[0]
    return feat, label


def dataset(paths, labels, training):
    ds = tf.data.Dataset.from_tensor_slices((paths, labels))
    ds = ds.map(read_clip, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.cache()
    ds = ds.map(log_mel, num_parallel_calls=tf.data.AUTOTUNE)
    if training:
        ds = ds.shuffle(len(paths), seed=3)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


with tempfile.TemporaryDirectory() as folder:
    paths, labels = write_clips(folder)
    n_train = int(0.85 * CLIPS)
    train = dataset(paths[:n_train], labels[:n_train], True)
    val = dataset(paths[n_train:], labels[n_train:], False)

    tf.keras.utils.set_random_seed(5)
    model = tf.keras.Sequential([
        tf.keras.layers.Input((None, 40)),
        tf.keras.layers.Conv1D(24, 5, activation="relu"),
        tf.keras.layers.MaxPooling1D(2),
        tf.keras.layers.Conv1D(24, 5, activation="relu"),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(CLASSES, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, validation_data=val, epochs=EPOCHS, verbose=2)
