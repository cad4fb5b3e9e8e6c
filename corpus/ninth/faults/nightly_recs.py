"""Nightly job: write the ten best unseen recipes for each member and report hit rate."""
import os
import tempfile

import numpy as np
import tensorflow as tf

MEMBERS = 2600
RECIPES = 60_000
DIM = 48
TOP = 10
CHUNK = 200


def load_factors():
    rng = np.random.default_rng(21)
    taste = rng.standard_normal((MEMBERS, DIM)).astype("float32")
    recipe = rng.standard_normal((RECIPES, DIM)).astype("float32")
    popularity = rng.gumbel(0, 1.0, RECIPES).astype("float32")
    return taste, recipe, popularity


def load_history(taste, recipe, seed=22):
    rng = np.random.default_rng(seed)
    seen = rng.integers(0, RECIPES, (MEMBERS, 30)).astype("int32")
    held_out = np.empty(MEMBERS, "int32")
    for m in range(MEMBERS):
        cand = rng.integers(0, RECIPES, 400)
        held_out[m] = cand[np.argmax(recipe[cand] @ taste[m])]
    return seen, held_out


class Ranker(tf.Module):
    def __init__(self, recipe, popularity):
        super().__init__()
        self.recipe = tf.constant(recipe)
        self.bias = tf.constant(popularity)

    @tf.function(input_signature=[tf.TensorSpec([None, DIM]), tf.TensorSpec([None, 30], tf.int32)])
    def rank(self, taste, seen):
        scores = tf.matmul(taste, self.recipe, transpose_b=True) + self.bias
        rows = tf.repeat(tf.range(tf.shape(seen)[0])[:, None], 30, axis=1)
        where = tf.reshape(tf.stack([rows, seen], axis=-1), [-1, 2])
        scores = tf.tensor_scatter_nd_min(scores, where, tf.fill([tf.shape(where)[0]], -1e9))
        order = tf.argsort(scores, axis=-1, direction="DESCENDING")
        best = order[:, :TOP]
        return best, tf.gather(scores, best, batch_dims=1)


def run(out_path):
    taste, recipe, popularity = load_factors()
    seen, held_out = load_history(taste, recipe)
    ranker = Ranker(recipe, popularity)
    hits = 0
    gain = 0.0
    with open(out_path, "w") as fh:
        for lo in range(0, MEMBERS, CHUNK):
            hi = min(MEMBERS, lo + CHUNK)
            best, score = ranker.rank(taste[lo:hi], seen[lo:hi])
            best, score = best.numpy(), score.numpy()
            match = best == held_out[lo:hi, None]
            hits += int(match.any(axis=1).sum())
            gain += float((match / np.log2(np.arange(2, TOP + 2))).sum())
            for m, ids, sc in zip(range(lo, hi), best, score):
                fh.write("%d\t%s\t%.4f\n" % (m, ",".join(map(str, ids)), sc[0]))
    print(f"hit rate@{TOP} {hits / MEMBERS:.4f}  ndcg {gain / MEMBERS:.4f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(os.path.join(folder, "recs.tsv"))
