# Orthogonal RNN (Cayley parametrisation) on the copy-memory task.
# before/after repo: this is the "before" commit, training loop is compiled already.
import time

import numpy as np
import tensorflow as tf

UNITS = 128
ALPHABET = 8
COPY_LEN = 10
DELAY = 60
BATCH = 64
STEPS = 180
T = DELAY + 2 * COPY_LEN

tf.random.set_seed(2)


class OrthogonalRNN(tf.Module):
    """h_t = tanh(W h_{t-1} + V x_t + b), where W = (I + A)^-1 (I - A), A skew."""

    def __init__(self, n_in, units, n_out, seed=0):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.units = units
        self.raw = tf.Variable(rng.uniform(-0.3, 0.3, (units, units)).astype(np.float32), name="raw")
        self.v = tf.Variable(rng.normal(0, n_in ** -0.5, (n_in, units)).astype(np.float32), name="v")
        self.bias = tf.Variable(tf.zeros(units), name="bias")
        self.out = tf.Variable(rng.normal(0, units ** -0.5, (units, n_out)).astype(np.float32), name="out")
        self.out_b = tf.Variable(tf.zeros(n_out), name="out_b")

    def rotation(self):
        upper = tf.linalg.band_part(self.raw, 0, -1)
        a = upper - tf.transpose(upper)
        eye = tf.eye(self.units)
        return tf.linalg.solve(eye + a, eye - a)

    def cell(self, x_t, h):
        pre = tf.matmul(h, self.rotation()) + tf.matmul(x_t, self.v)
        return tf.tanh(pre + self.bias)

    def __call__(self, x):
        x = tf.transpose(x, [1, 0, 2])
        h = tf.zeros((BATCH, self.units))
        states = tf.TensorArray(tf.float32, size=T, element_shape=(BATCH, self.units))
        for t in tf.range(T):
            h = self.cell(x[t], h)
            states = states.write(t, h)
        hs = tf.transpose(states.stack(), [1, 0, 2])
        return tf.einsum("btu,uo->bto", hs, self.out) + self.out_b


def copy_batch(rng):
    """0 = blank, 1..ALPHABET = symbols, ALPHABET + 1 = the go signal."""
    symbols = rng.integers(1, ALPHABET + 1, (BATCH, COPY_LEN))
    inp = np.zeros((BATCH, T), np.int64)
    inp[:, :COPY_LEN] = symbols
    inp[:, DELAY + COPY_LEN - 1] = ALPHABET + 1
    target = np.zeros((BATCH, T), np.int64)
    target[:, -COPY_LEN:] = symbols
    onehot = np.eye(ALPHABET + 2, dtype=np.float32)[inp]
    return tf.constant(onehot), tf.constant(target)


rnn = OrthogonalRNN(ALPHABET + 2, UNITS, ALPHABET + 1)
moments = [tf.Variable(tf.zeros_like(v), trainable=False) for v in rnn.trainable_variables]


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = rnn(x)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    grads = tape.gradient(loss, rnn.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    # RMSprop by hand
    for v, m, g in zip(rnn.trainable_variables, moments, grads):
        m.assign(0.9 * m + 0.1 * tf.square(g))
        v.assign_sub(2e-4 * g / (tf.sqrt(m) + 1e-7))
    return loss


rng = np.random.default_rng(7)
started = time.time()
for i in range(STEPS):
    x, y = copy_batch(rng)
    loss = train_step(x, y)
    if i % 45 == 0:
        print("step %3d  loss %.5f  (%.1f s)" % (i, loss.numpy(), time.time() - started))

w = rnn.rotation()
err = tf.reduce_max(tf.abs(tf.matmul(w, w, transpose_a=True) - tf.eye(UNITS)))
print("final loss %.5f, orthogonality error %.1e" % (loss.numpy(), err.numpy()))
