import numpy as np
import tensorflow as tf

rng = np.random.default_rng(17)
table = tf.Variable(tf.random.normal((200, 32), stddev=0.1))
query = tf.Variable(tf.random.normal((32, 32), stddev=0.1))
head = tf.Variable(tf.random.normal((32, 1), stddev=0.1))
weights = [table, query, head]


@tf.function(  # FAULT
    input_signature=[tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None, 1), tf.float32)],
    jit_compile=True,  # FAULT
)
def train_step(ids, labels):  # FAULT
    with tf.GradientTape() as tape:
        x = tf.gather(table, ids)
        scores = tf.einsum("btd,de,bse->bts", x, query, x) / 32.0**0.5
        mixed = tf.matmul(tf.nn.softmax(scores), x)
        logits = tf.matmul(tf.reduce_mean(mixed, axis=1), head)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
    for w, g in zip(weights, tape.gradient(loss, weights)):
        w.assign_sub(0.1 * tf.convert_to_tensor(g))
    return loss


def batch_of(size):
    length = int(rng.integers(10, 30))
    ids = rng.integers(0, 200, (size, length)).astype(np.int32)
    return tf.constant(ids), tf.constant((ids[:, :1] > 100).astype(np.float32))


running = None
for step in range(80):
    ids, labels = batch_of(16)
    loss = float(train_step(ids, labels))  # FAULT
    running = loss if running is None else 0.95 * running + 0.05 * loss
    if step % 30 == 0:
        print(step, round(running, 4))
print("smoothed loss", running)

# /// fault
# style = "text"
# kind = "time"
# cause = "The step is compiled by XLA and the sequence length changes, so XLA compiles again and again"
# codes = ["CMP001", "RET003"]
# families = ["compile"]
# source = "GitHub, tensorflow/tensorflow #81896 'XLA recompilation every time when shape changed' and #62198"
# ///
