"""Nightly scoring job: reads customer extracts (CSV), scores churn, writes one result file each."""
import argparse
import csv
import json
import pathlib
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

FEATURES = ["tenure", "monthly", "calls", "complaints", "discount", "age", "balance", "roaming"]


def train_reference_model(path):
    """Stand-in for the model that the training job has published."""
    inputs = keras.Input((len(FEATURES),))
    x = keras.layers.BatchNormalization()(inputs)
    for width in (96, 96, 64, 64, 32, 32):
        y = keras.layers.Dense(width, activation="relu")(x)
        y = keras.layers.LayerNormalization()(y)
        x = keras.layers.Dropout(0.1)(y)
    model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(x))
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.save(path)


def write_extracts(folder, n_files, rows, rng):
    for i in range(n_files):
        with open(folder / f"extract_{i:03d}.csv", "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(["customer"] + FEATURES)
            values = rng.normal(size=(rows, len(FEATURES))).round(3)
            for j, row in enumerate(values.tolist()):
                out.writerow([f"C{i:03d}-{j:05d}"] + row)


def read_extract(path):
    with open(path) as f:
        rows = list(csv.reader(f))[1:]
    ids = [r[0] for r in rows]
    return ids, np.array([r[1:] for r in rows], dtype=np.float32)


class ChurnScorer:
    def __init__(self, model_path, threshold):
        self.model = keras.models.load_model(model_path)
        self.threshold = threshold

    def score(self, features):
        return self.model.predict(features, batch_size=512, verbose=0)[:, 0]

    def score_file(self, src, dst):
        ids, features = read_extract(src)
        prob = self.score(features)
        flagged = prob > self.threshold
        with open(dst, "w") as f:
            json.dump({i: round(float(p), 4) for i, p in zip(ids, prob)}, f)
        return len(ids), int(flagged.sum())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--threshold", type=float, default=0.5)
    args = parser.parse_args()
    keras.utils.set_random_seed(10)
    with tempfile.TemporaryDirectory() as tmp:
        root = pathlib.Path(tmp)
        write_extracts(root, args.files, args.rows, np.random.default_rng(10))
        train_reference_model(root / "churn.keras")
        scorer = ChurnScorer(root / "churn.keras", args.threshold)
        total = flagged = 0
        start = time.perf_counter()
        for src in sorted(root.glob("extract_*.csv")):
            n, k = scorer.score_file(src, src.with_suffix(".json"))
            total, flagged = total + n, flagged + k
        print(f"{total} customers from {args.files} files, {flagged} flagged, "
              f"{time.perf_counter() - start:.1f}s")
        sizes = [p.stat().st_size for p in root.glob("*.json")]
        print(f"wrote {len(sizes)} result files, {sum(sizes) / 1024:.0f} kB")


if __name__ == "__main__":
    main()
