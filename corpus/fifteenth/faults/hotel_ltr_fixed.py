"""Learning to rank hotels per search with a pairwise logistic loss."""
import numpy as np
import tensorflow as tf

LIST_SIZE = 24
N_FEATURES = 40
BATCH = 128

tf.keras.utils.set_random_seed(99)


def searches(n, seed):
    """n result lists, padded to LIST_SIZE; label -1 marks padding."""
    rng = np.random.default_rng(seed)
    w = np.random.default_rng(0).normal(size=N_FEATURES)
    x = rng.normal(size=(n, LIST_SIZE, N_FEATURES)).astype(np.float32)
    utility = x @ w / np.sqrt(N_FEATURES) + 0.5 * rng.normal(size=(n, LIST_SIZE))
    rel = np.digitize(utility, [0.3, 1.0, 1.8]).astype(np.float32)
    count = rng.integers(8, LIST_SIZE + 1, n)
    pad = np.arange(LIST_SIZE)[None] >= count[:, None]
    rel[pad] = -1.0
    x[pad] = 0.0
    return x, rel


class PairwiseLogistic(tf.keras.losses.Loss):
    """log(1 + exp(-(s_i - s_j))) over the pairs of a list with rel_i > rel_j."""

    def call(self, y_true, y_pred):
        rel = tf.ensure_shape(y_true, (None, LIST_SIZE))
        score = y_pred
        valid = rel >= 0
        both = tf.logical_and(valid[:, :, None], valid[:, None, :])
        better = tf.logical_and(rel[:, :, None] > rel[:, None, :], both)
        weight = tf.cast(better, score.dtype)
        diff = score[:, :, None] - score[:, None, :]
        total = tf.reduce_sum(weight * tf.nn.softplus(-diff), axis=[1, 2])
        return tf.math.divide_no_nan(total, tf.reduce_sum(weight, axis=[1, 2]))


def scorer():
    docs = tf.keras.Input((LIST_SIZE, N_FEATURES))
    h = tf.keras.layers.Dense(64, activation="relu")(docs)
    h = tf.keras.layers.Dense(32, activation="relu")(h)
    s = tf.keras.layers.Dense(1)(h)
    return tf.keras.Model(docs, tf.keras.layers.Reshape((LIST_SIZE,))(s))


def ndcg(rel, score, k=10):
    gain = np.where(rel >= 0, 2.0**rel - 1, 0)
    score = np.where(rel >= 0, score, -1e9)
    disc = 1 / np.log2(np.arange(2, k + 2))
    got = np.take_along_axis(gain, np.argsort(-score, 1)[:, :k], 1) @ disc
    best = -np.sort(-gain, 1)[:, :k] @ disc
    return float(np.mean(got / np.maximum(best, 1e-9)))


if __name__ == "__main__":
    x, rel = searches(12800, 1)
    xt, relt = searches(1000, 2)
    model = scorer()
    model.compile(optimizer=tf.keras.optimizers.Adagrad(0.05), loss=PairwiseLogistic())
    data = (
        tf.data.Dataset.from_tensor_slices((x, rel))
        .shuffle(4096, seed=1)
        .batch(BATCH)
        .prefetch(tf.data.AUTOTUNE)
    )
    model.fit(data, epochs=16, verbose=2)
    print("ndcg@10", round(ndcg(relt, model.predict(xt, batch_size=500, verbose=0)), 4))
