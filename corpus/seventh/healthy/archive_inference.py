"""Scores an archive of image chips with an EfficientNet-like classifier and writes a CSV. No training."""
import argparse
import csv
import os
import tempfile
import time

import numpy as np
from tensorflow import keras


def chip_pages(n, page, size, seed):
    rng = np.random.default_rng(seed)
    for start in range(0, n, page):
        m = min(page, n - start)
        chips = rng.random((m, size, size, 3), dtype=np.float32)
        yield [f"chip_{i:06d}" for i in range(start, start + m)], chips


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--chips", type=int, default=3200)
    ap.add_argument("--page", type=int, default=640)
    ap.add_argument("--size", type=int, default=64)
    ap.add_argument("--classes", type=int, default=12)
    args = ap.parse_args()
    keras.utils.set_random_seed(4)
    model = keras.applications.MobileNet(input_shape=(args.size, args.size, 3), alpha=0.75, weights=None,
                                         classes=args.classes)
    hist, t0, n = np.zeros(args.classes, int), time.time(), 0
    fd, path = tempfile.mkstemp(suffix=".csv")
    with os.fdopen(fd, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["chip", "label", "confidence"])
        for names, chips in chip_pages(args.chips, args.page, args.size, 0):
            prob = model.predict(chips, batch_size=64, verbose=0)
            label = prob.argmax(1)
            conf = prob[np.arange(len(label)), label].round(4)
            out.writerows(zip(names, label.tolist(), conf.tolist()))
            hist += np.bincount(label, minlength=args.classes)
            n += len(names)
    print(f"{n} chips in {time.time() - t0:.1f}s, {os.path.getsize(path) / 1024:.0f} kB")
    print("labels", hist.tolist())
    os.remove(path)


if __name__ == "__main__":
    main()
