"""Builds the vocabulary for a news-headline model from text shards and stores the vectorised corpus."""
import argparse
import pathlib
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def write_shards(folder, n_shards, lines_per_shard, rng):
    stems = ["mar", "vel", "tor", "kin", "sa", "lo", "pre", "gan", "dis", "ur", "em", "fo", "ti", "ran"]
    lexicon = np.array(["".join(rng.choice(stems, rng.integers(1, 4))) for _ in range(9000)])
    for s in range(n_shards):
        picks = rng.zipf(1.25, (lines_per_shard, 14)) % len(lexicon)
        ends = rng.integers(5, 15, lines_per_shard)
        with open(folder / f"headlines-{s:02d}.txt", "w") as f:
            for row, end in zip(lexicon[picks], ends):
                f.write(" ".join(row[:end]).title() + "\n")
    return sorted(str(p) for p in folder.glob("headlines-*.txt"))


def headline_dataset(files):
    return tf.data.TextLineDataset(files).filter(lambda line: tf.strings.length(line) > 0)


def build_vectorizer(files, max_tokens, length):
    vectorizer = layers.TextVectorization(max_tokens=max_tokens, output_sequence_length=length,
                                          standardize="lower_and_strip_punctuation")
    lines = headline_dataset(files)
    vectorizer.adapt(lines.batch(1024))
    return vectorizer


def store_vectorised(vectorizer, files, out_dir):
    """One .npy of token ids for each shard."""
    total, unknown = 0, 0
    for path in files:
        parts = [vectorizer(batch).numpy() for batch in headline_dataset([path]).batch(2048)]
        ids = np.concatenate(parts).astype("uint16")
        np.save(out_dir / (pathlib.Path(path).stem + ".npy"), ids)
        total += np.count_nonzero(ids)
        unknown += np.count_nonzero(ids == 1)
    return total, unknown


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--shards", type=int, default=6)
    ap.add_argument("--lines", type=int, default=2500)
    ap.add_argument("--max-tokens", type=int, default=5000)
    ap.add_argument("--length", type=int, default=16)
    args = ap.parse_args()
    keras.utils.set_random_seed(19)
    with tempfile.TemporaryDirectory() as tmp:
        root = pathlib.Path(tmp)
        files = write_shards(root, args.shards, args.lines, np.random.default_rng(19))
        t0 = time.perf_counter()
        vectorizer = build_vectorizer(files, args.max_tokens, args.length)
        t1 = time.perf_counter()
        vocab = vectorizer.get_vocabulary()
        print(f"vocabulary of {len(vocab)} tokens in {t1 - t0:.1f}s, most frequent {vocab[2:7]}")
        total, unknown = store_vectorised(vectorizer, files, root)
        print(f"{total} tokens stored, {100 * unknown / total:.2f}% unknown, "
              f"{time.perf_counter() - t1:.1f}s")
        size = sum(p.stat().st_size for p in root.glob("*.npy"))
        print(f"{size / 1e6:.2f} MB in {args.shards} files")


if __name__ == "__main__":
    main()
