"""Metric learning for product look-alikes: batch-hard triplet loss on feature vectors."""
import argparse
import sys

import numpy as np
import tensorflow as tf


def parse(argv):
    p = argparse.ArgumentParser()
    p.add_argument("--classes", type=int, default=64)
    p.add_argument("--per-class", type=int, default=60)
    p.add_argument("--features", type=int, default=128)
    p.add_argument("--embedding", type=int, default=192)
    p.add_argument("--p", type=int, default=32, help="classes in a batch")
    p.add_argument("--k", type=int, default=12, help="samples of each class in a batch")
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--margin", type=float, default=0.3)
    return p.parse_args(argv)


def make_products(args, rng):
    centres = rng.normal(0, 1, (args.classes, args.features))
    x = centres[:, None] + rng.normal(0, 1.4, (args.classes, args.per_class, args.features))
    return x.astype("float32")


def pk_batches(x, args, rng):
    while True:
        cls = rng.choice(args.classes, args.p, replace=False)
        idx = rng.integers(0, args.per_class // 2, (args.p, args.k))
        yield x[cls[:, None], idx].reshape(-1, args.features), np.repeat(cls, args.k).astype("int32")


def pairwise_distances(emb):
    """[B, D] -> [B, B] matrix of euclidean distances."""
    norm = tf.reduce_sum(tf.square(emb), axis=-1)
    sq = norm[:, None] - 2.0 * tf.matmul(emb, emb, transpose_b=True) + norm[None, :]
    return tf.sqrt(tf.maximum(sq, 1e-12))


def batch_hard(labels, emb, margin):
    dist = pairwise_distances(emb)
    same = tf.equal(labels[:, None], labels[None, :])
    hardest_pos = tf.reduce_max(tf.where(same, dist, 0.0), axis=1)
    hardest_neg = tf.reduce_min(tf.where(same, 1e9, dist), axis=1)
    return tf.reduce_mean(tf.nn.relu(hardest_pos - hardest_neg + margin))


def recall_at_1(emb, labels):
    sim = emb @ emb.T
    np.fill_diagonal(sim, -np.inf)
    return float(np.mean(labels[sim.argmax(1)] == labels))


def main(argv=None):
    args = parse(argv)
    tf.keras.utils.set_random_seed(17)
    rng = np.random.default_rng(17)
    x = make_products(args, rng)
    net = tf.keras.Sequential([
        tf.keras.Input((args.features,)),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(args.embedding),
        tf.keras.layers.UnitNormalization(),
    ])
    opt = tf.keras.optimizers.Adam(1e-3)
    sig = (tf.TensorSpec([None, args.features]), tf.TensorSpec([None], tf.int32))
    data = tf.data.Dataset.from_generator(lambda: pk_batches(x, args, rng), output_signature=sig)

    @tf.function(input_signature=sig)
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = batch_hard(yb, net(xb, training=True), args.margin)
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    held_out = x[:, args.per_class // 2 :].reshape(-1, args.features)
    labels = np.repeat(np.arange(args.classes), args.per_class - args.per_class // 2)
    for i, (xb, yb) in enumerate(data.take(args.steps).prefetch(2), 1):
        loss = step(xb, yb)
        if i % 20 == 0:
            r1 = recall_at_1(net(held_out).numpy(), labels)
            print(f"step {i}: loss {float(loss):.4f} recall@1 {r1:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
