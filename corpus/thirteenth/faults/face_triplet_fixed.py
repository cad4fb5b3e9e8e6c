"""Metric learning on (synthetic) face descriptors, batch-all triplet loss.

Training is very slow once I go over 128 per batch, GPU or not. What am I doing wrong?
"""
import argparse
import time

import numpy as np
import tensorflow as tf


def make_people(n_people, per_person, dim, seed):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_people, dim)).astype("float32")
    faces = centres[:, None, :] + 2.5 * rng.normal(size=(n_people, per_person, dim)).astype("float32")
    return faces.astype("float32")


def pk_batches(faces, p, k, steps, seed):
    """P people, K pictures of each; rows of the same person follow each other."""
    rng = np.random.default_rng(seed)
    n_people, per_person, dim = faces.shape
    for _ in range(steps):
        people = rng.choice(n_people, p, replace=False)
        pics = np.stack([rng.choice(per_person, k, replace=False) for _ in range(p)])
        x = faces[people[:, None], pics].reshape(p * k, dim)
        yield tf.constant(x), tf.constant(np.repeat(people, k).astype("int32"))


def pairwise(emb):
    dot = tf.matmul(emb, emb, transpose_b=True)
    sq = tf.linalg.diag_part(dot)
    d2 = sq[:, None] - 2.0 * dot + sq[None, :]
    return tf.sqrt(tf.maximum(d2, 1e-9))


def positives(labels, k):
    """column indices [n, k] of the pictures of the same person, and which are not the anchor itself"""
    n = tf.shape(labels)[0]
    rows = tf.range(n)
    cols = (rows // k * k)[:, None] + tf.range(k)[None, :]
    return cols, cols != rows[:, None]


def batch_all_loss(labels, emb, margin, k):
    d = pairwise(emb)
    cols, notself = positives(labels, k)
    dpos = tf.gather(d, cols, batch_dims=1)
    hinge = dpos[:, :, None] - d[:, None, :] + margin
    negative = labels[:, None] != labels[None, :]
    mask = tf.cast(notself[:, :, None] & negative[:, None, :], tf.float32)
    hinge = tf.maximum(hinge * mask, 0.0)
    active = tf.reduce_sum(tf.cast(hinge > 1e-7, tf.float32))
    total = tf.reduce_sum(mask)
    return tf.reduce_sum(hinge) / (active + 1e-9), active / total


class Embedder(tf.keras.Model):
    def __init__(self, width, out):
        super().__init__()
        self.d1 = tf.keras.layers.Dense(width, activation="relu")
        self.d2 = tf.keras.layers.Dense(width, activation="relu")
        self.out = tf.keras.layers.Dense(out)

    def call(self, x):
        return tf.math.l2_normalize(self.out(self.d2(self.d1(x))), axis=1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--people", type=int, default=200)
    ap.add_argument("--p", type=int, default=32)
    ap.add_argument("--k", type=int, default=8)
    ap.add_argument("--steps", type=int, default=90)
    ap.add_argument("--margin", type=float, default=0.3)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(3)

    faces = make_people(args.people, 20, 512, seed=1)
    net = Embedder(512, 64)
    opt = tf.keras.optimizers.Adam(3e-4)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss, frac = batch_all_loss(y, net(x, training=True), args.margin, args.k)
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss, frac

    t0 = time.time()
    for i, (x, y) in enumerate(pk_batches(faces, args.p, args.k, args.steps, seed=2)):
        loss, frac = step(x, y)
        if i % 20 == 0 or i == args.steps - 1:
            print(f"step {i:4d}  loss {float(loss):.4f}  active {float(frac):.3f}  {time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
