"""Protein content of grain from NIR spectra.  One text line per scan, as the instrument writes it."""
import io
import random
import time

import numpy as np
import tensorflow as tf

POINTS = 1050
SCANS = 2000
BATCH = 200
EPOCHS = 66


def instrument_dump(seed):
    """what the instrument would have sent: id;protein;v1;v2;..."""
    rng = np.random.default_rng(seed)
    wl = np.linspace(0, 1, POINTS)
    buf = io.StringIO()
    peaks = [(0.2, 0.03), (0.45, 0.05), (0.7, 0.02), (0.85, 0.04)]
    for i in range(SCANS):
        c = rng.uniform(0.5, 1.5, len(peaks))
        s = sum(a * np.exp(-((wl - m) / w) ** 2) for a, (m, w) in zip(c, peaks))
        s = s + rng.normal(0, 0.02, POINTS) + rng.normal(0, 0.1) + 0.2 * wl * rng.normal()
        protein = 8 + 4 * c[1] - 1.5 * c[3] * c[0]
        buf.write(f"{i};{protein:.3f};" + ";".join(f"{v:.4f}" for v in s) + "\n")
    buf.seek(0)
    return buf


def parse(dump):
    spectra, proteins = [], []
    for line in dump:
        parts = line.split(";")
        proteins.append(float(parts[1]))
        spectra.append([float(p) for p in parts[2:]])
    return np.asarray(spectra, "float32"), np.asarray(proteins, "float32")


class Regressor(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.net = tf.keras.Sequential([
            tf.keras.layers.LayerNormalization(),
            tf.keras.layers.Dense(96, activation="relu"),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(1),
        ])

    def call(self, x):
        return 11.0 + self.net(x)[:, 0]


def main():
    random.seed(4)
    tf.keras.utils.set_random_seed(4)
    spectra, proteins = parse(instrument_dump(1))
    print("scans:", len(spectra), "points:", len(spectra[0]))
    model = Regressor()
    opt = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            err = model(x) - y
            loss = tf.reduce_mean(err * err)
        opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    order = list(range(len(spectra)))
    t0 = time.time()
    for epoch in range(EPOCHS):
        random.shuffle(order)
        total = tf.zeros([])
        n = 0
        for s in range(0, len(order) - BATCH + 1, BATCH):
            pick = order[s:s + BATCH]
            x = tf.constant(spectra[pick])
            y = tf.constant(proteins[pick])
            total += train_step(x, y)
            n += 1
        if epoch % 11 == 10:
            print(f"epoch {epoch + 1:3d}  mse {float(total) / n:.4f}  {time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
