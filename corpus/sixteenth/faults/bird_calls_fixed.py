"""Recognise synthetic bird calls: WAV files -> log-mel -> small CNN."""
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)

RATE = 16_000
SECONDS = 2
CLIPS, CLASSES = 360, 5
EPOCHS, BATCH = 36, 32

MEL = tf.signal.linear_to_mel_weight_matrix(40, 513, RATE, 80.0, 7600.0)


def write_clips(folder):
    rng = np.random.default_rng(4)
    t = np.arange(RATE * SECONDS) / RATE
    paths, labels = [], []
    for i in range(CLIPS):
        kind = i % CLASSES
        start = 900 + 700 * kind + rng.uniform(-150, 150)
        sweep = rng.uniform(200, 500) * (1 if kind % 2 else -1)
        call = np.sin(2 * np.pi * (start * t + 0.5 * sweep * t * t))
        call *= np.sin(np.pi * np.clip((t - rng.uniform(0, 0.8)) / 0.9, 0, 1))
        call = 0.4 * call + 0.15 * rng.normal(size=t.size)
        wav = tf.audio.encode_wav(np.clip(call, -1, 1).astype(np.float32)[:, None], RATE)
        path = os.path.join(folder, f"call_{i:04d}.wav")
        tf.io.write_file(path, wav)
        paths.append(path)
        labels.append(kind)
    return np.array(paths), np.array(labels, np.int32)


def load_logmel(path, label):
    audio, _ = tf.audio.decode_wav(tf.io.read_file(path), 1, RATE * SECONDS)
    audio = audio[:, 0] - tf.reduce_mean(audio)
    spectrum = tf.abs(tf.signal.stft(audio, frame_length=1024, frame_step=128))
    return tf.math.log(tf.matmul(spectrum, MEL) + 1e-5), label


def mask_band(mel, label):
    """SpecAugment light: blank one random band of frequencies."""
    first = tf.random.uniform((), 0, 34, tf.int32, seed=4)
    bins = tf.range(40)
    keep = tf.logical_or(bins < first, bins >= first + 6)
    return tf.where(keep[None, :], mel, tf.reduce_mean(mel)), label


def pipeline(paths, labels, training):
    ds = tf.data.Dataset.from_tensor_slices((paths, labels))
    ds = ds.map(load_logmel, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(len(paths), seed=4)
        ds = ds.map(mask_band, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def build(norm):
    return tf.keras.Sequential([
        tf.keras.layers.Input((243, 40)),
        norm,
        tf.keras.layers.Conv1D(32, 5, strides=4, activation="relu"),
        tf.keras.layers.Conv1D(32, 5, strides=2, activation="relu"),
        tf.keras.layers.GlobalMaxPooling1D(),
        tf.keras.layers.Dropout(0.3),
        tf.keras.layers.Dense(CLASSES, activation="softmax"),
    ])


folder = tempfile.mkdtemp()
try:
    paths, labels = write_clips(folder)
    order = np.random.default_rng(0).permutation(CLIPS)
    cut = int(0.8 * CLIPS)
    train = pipeline(paths[order[:cut]], labels[order[:cut]], True)
    val = pipeline(paths[order[cut:]], labels[order[cut:]], False)
    norm = tf.keras.layers.Normalization(axis=-1)
    norm.adapt(val.map(lambda mel, label: mel))
    model = build(norm)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, validation_data=val, epochs=EPOCHS, verbose=2)
finally:
    shutil.rmtree(folder)
