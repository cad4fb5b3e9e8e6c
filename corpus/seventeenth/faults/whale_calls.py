"""Classify whale calls from log-mel spectrograms with a small CNN."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

RATE = 8000
FRAME, HOP, N_MELS = 512, 128, 40
SPECIES = 4


def synth_recordings(n, seconds, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(int(RATE * seconds)) / RATE
    labels = rng.integers(0, SPECIES, n)
    base = np.array([300.0, 600.0, 1000.0, 1600.0])[labels]
    sweep = rng.uniform(50, 200, n)
    waves = np.sin(2 * np.pi * (base[:, None] * t + 0.5 * sweep[:, None] * t ** 2))
    waves += rng.normal(0, 1.5, waves.shape)
    return waves.astype("float32"), labels.astype("int32")


def mel_matrix():
    top = 2595 * np.log10(1 + RATE / 2 / 700)
    points = 700 * (10 ** (np.linspace(0, top, N_MELS + 2) / 2595) - 1)
    freqs = np.fft.rfftfreq(FRAME, 1 / RATE)
    rise = (freqs[None] - points[:-2, None]) / (points[1:-1] - points[:-2])[:, None]
    fall = (points[2:, None] - freqs[None]) / (points[2:] - points[1:-1])[:, None]
    return np.maximum(0, np.minimum(rise, fall)).T


class Spectrogram:
    def __init__(self):
        self.window = np.hanning(FRAME)
        self.mel = mel_matrix()

    def __call__(self, wave):
        frames = np.lib.stride_tricks.sliding_window_view(wave, FRAME)[::HOP]
        power = np.abs(np.fft.rfft(frames * self.window, axis=1)) ** 2
        db = np.log10(power @ self.mel + 1e-6)
        background = np.median(db, axis=0, keepdims=True)
        return ((db - background) / (db.std() + 1e-6)).astype("float32")[..., None]


class CallSequence(tf.keras.utils.PyDataset):
    def __init__(self, waves, labels, batch_size, transform, seed):
        super().__init__()
        self.waves = waves
        self.labels = labels
        self.batch_size = batch_size
        self.transform = transform
        self.rng = np.random.default_rng(seed)
        self.order = np.arange(len(waves))

    def __len__(self):
        return int(np.ceil(len(self.order) / self.batch_size))

    def __getitem__(self, i):
        picked = self.order[i * self.batch_size:(i + 1) * self.batch_size]
        batch = np.stack([self.transform(self.waves[j]) for j in picked])
        return batch, self.labels[picked]

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


def build_model(shape):
    tf.keras.utils.set_random_seed(3)
    model = tf.keras.Sequential([
        layers.Input(shape),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(SPECIES, activation="softmax"),
    ])
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-3), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recordings", type=int, default=110)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()

    waves, labels = synth_recordings(args.recordings, args.seconds)
    sequence = CallSequence(waves, labels, 32, Spectrogram(), seed=5)
    model = build_model(sequence[0][0].shape[1:])
    history = model.fit(sequence, epochs=args.epochs, verbose=0)
    print("loss", [round(v, 4) for v in history.history["loss"]],
          "accuracy", round(history.history["accuracy"][-1], 3))


if __name__ == "__main__":
    main()
