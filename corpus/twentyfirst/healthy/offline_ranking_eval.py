"""Offline ranking evaluation of a two-tower retriever, with bootstrap intervals."""
import numpy as np
import tensorflow as tf

N_USERS = 24576
N_ITEMS = 24000
DIM = 256
BLOCK = 1024
TOP_K = 50
N_BOOTSTRAP = 300
HOLDOUT = 5
HISTORY = 30


def load_embeddings():
    rng = np.random.default_rng(0)
    items = rng.standard_normal((N_ITEMS, DIM), dtype=np.float32)
    users = rng.standard_normal((N_USERS, DIM), dtype=np.float32)
    liked = rng.integers(0, N_ITEMS, (N_USERS, HISTORY + HOLDOUT))
    for j in range(6):  # a user leans towards some of what he liked
        users += 0.35 * items[liked[:, -1 - j]]
    return users, items, liked[:, :HISTORY].astype(np.int32), liked[:, HISTORY:]


class Retriever(tf.Module):
    def __init__(self, items):
        self.items = tf.Variable(items, trainable=False)

    @tf.function(input_signature=[
        tf.TensorSpec((BLOCK, DIM), tf.float32),
        tf.TensorSpec((BLOCK, HISTORY), tf.int32),
    ])
    def recommend(self, users, seen):
        scores = tf.matmul(users, self.items, transpose_b=True)
        rows = tf.repeat(tf.range(BLOCK), HISTORY)
        where = tf.stack([rows, tf.reshape(seen, [-1])], axis=1)
        scores = tf.tensor_scatter_nd_update(
            scores, where, tf.fill([BLOCK * HISTORY], scores.dtype.min))
        return tf.math.top_k(scores, TOP_K).indices


def ranking_metrics(top, holdout):
    """Per-user metrics in float64; `top` (n, k), `holdout` (n, h)."""
    rel = (top[:, :, None] == holdout[:, None, :]).any(-1)
    discount = 1.0 / np.log2(np.arange(2, TOP_K + 2, dtype=np.float64))
    ideal = discount[:HOLDOUT].sum()
    first = np.where(rel.any(1), rel.argmax(1) + 1, np.inf)
    return np.stack(
        [rel.sum(1) / HOLDOUT, (rel * discount).sum(1) / ideal, 1.0 / first], axis=1
    ).astype(np.float64)


def bootstrap(values, rng):
    means = np.empty((N_BOOTSTRAP, values.shape[1]), np.float64)
    for b in range(N_BOOTSTRAP):
        means[b] = rng.multinomial(len(values), np.full(len(values), 1 / len(values))) @ values
    means /= len(values)
    return values.mean(0), np.quantile(means, [0.025, 0.975], axis=0)


def main():
    users, items, seen, holdout = load_embeddings()
    retriever = Retriever(items)
    per_user = []
    for start in range(0, N_USERS, BLOCK):
        block = slice(start, start + BLOCK)
        top = retriever.recommend(users[block], seen[block]).numpy()
        per_user.append(ranking_metrics(top, holdout[block]))
    per_user = np.concatenate(per_user)
    mean, (low, high) = bootstrap(per_user, np.random.default_rng(9))
    for i, name in enumerate(("recall@50", "ndcg@50", "mrr")):
        print(f"{name:10s} {mean[i]:.5f} [{low[i]:.5f}, {high[i]:.5f}]")


if __name__ == "__main__":
    main()
