"""Two-layer GCN (Kipf & Welling) on a synthetic citation graph."""
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()

N, F, C, HID = 5000, 300, 7, 64
EPOCHS = 60
rng = np.random.default_rng(0)
tf.random.set_seed(0)

labels = rng.integers(0, C, N)
feats = rng.normal(size=(N, F)).astype("float32") + np.eye(C, F)[labels].astype("float32")

# citations mostly go to papers of the same field
src, dst = rng.integers(0, N, 60000), rng.integers(0, N, 60000)
keep = (labels[src] == labels[dst]) | (rng.random(60000) < 0.1)
pairs = np.stack([np.r_[src[keep], dst[keep], np.arange(N)], np.r_[dst[keep], src[keep], np.arange(N)]], 1)
pairs = np.unique(pairs, axis=0)
deg = np.bincount(pairs[:, 0], minlength=N).astype("float32")
weight = 1.0 / np.sqrt(deg[pairs[:, 0]] * deg[pairs[:, 1]])
a_hat = tf.sparse.SparseTensor(pairs.astype("int64"), weight.astype("float32"), [N, N])
print("graph:", N, "nodes", len(pairs), "edges")

adj = tf.sparse.reorder(a_hat)


def propagate(h):
    return tf.sparse.sparse_dense_matmul(adj, h)


x = tf.constant(feats)
y = tf.constant(labels)
train = tf.constant(rng.permutation(N)[:600])
init = tf.keras.initializers.GlorotUniform(seed=2)
w1 = tf.Variable(init((F, HID)))
w2 = tf.Variable(init((HID, C)))
opt = tf.keras.optimizers.Adam(0.01)


def forward(drop):
    h = tf.nn.relu(propagate(x @ w1))
    h = tf.nn.dropout(h, drop)
    return propagate(h @ w2)


@tf.function
def epoch():
    with tf.GradientTape() as tape:
        logits = tf.gather(forward(0.5), train)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tf.gather(y, train), logits))
        loss += 5e-4 * tf.nn.l2_loss(w1)
    opt.apply_gradients(zip(tape.gradient(loss, [w1, w2]), [w1, w2]))
    return loss


for e in range(EPOCHS):
    loss = epoch()
    if e % 20 == 0:
        print("epoch", e, "loss", round(float(loss), 4))
acc = np.mean(tf.argmax(forward(0.0), 1).numpy() == labels)
print("accuracy", acc)
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
