import numpy as np
import tensorflow as tf

WIDTH, WORDS, DIM = 400, 3000, 96
table = tf.Variable(tf.random.stateless_normal((WORDS, DIM), (1, 2), 0.0, 0.1))
mix = tf.Variable(tf.random.stateless_normal((DIM, DIM), (3, 4), 0.0, 0.1))


def notes(count, seed):
    """Notes of a ward: a few long ones, most of them one line."""
    rng = np.random.default_rng(seed)
    return [rng.integers(1, WORDS, min(WIDTH, 6 + int(rng.gamma(1.5, 8.0)))) for _ in range(count)]


@tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
def embed(words):
    filled = tf.cast(words > 0, tf.float32)
    rows = tf.gather(table, words)
    scores = tf.matmul(rows @ mix, rows, transpose_b=True) + 1e9 * (filled[:, None, :] - 1.0)
    seen = tf.nn.softmax(scores) @ rows
    return tf.reduce_sum(seen * filled[:, :, None], 1) / tf.reduce_sum(filled, 1, keepdims=True)


found = notes(2560, seed=5)
vectors = []
for begin in range(0, len(found), 32):
    part = found[begin : begin + 32]
    batch = np.zeros((len(part), WIDTH), "int32")
    for row, words in zip(batch, part):
        row[: len(words)] = words
    vectors.append(embed(tf.constant(batch)).numpy())  # FAULT
vectors = np.concatenate(vectors)
print("notes", len(vectors), "norm", round(float(np.linalg.norm(vectors, axis=1).mean()), 4))

# /// fault
# style = "custom"
# kind = "time"
# cause = "Short notes are padded to the width of the longest that is allowed before a compiled function encodes them"
# codes = ["GRF018"]
# families = ["graph"]
# source = "Public questions on sentence encoders that serve padded batches; dynamic padding in sequence libraries"
# ///
