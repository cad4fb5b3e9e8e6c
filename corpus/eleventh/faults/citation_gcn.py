"""Two-layer graph convolutional network (Kipf & Welling) on a random citation graph."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

N_PAPERS = 4500
N_TOPICS = 7
N_WORDS = 300
HIDDEN = 64
EPOCHS = 100


def citation_graph(seed=0):
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, N_TOPICS, N_PAPERS)
    by_topic = [np.flatnonzero(topic == k) for k in range(N_TOPICS)]
    src, dst = [], []
    for k in range(N_TOPICS):
        members = by_topic[k]
        src.append(rng.choice(members, 2 * len(members)))
        dst.append(rng.choice(members, 2 * len(members)))
    src.append(rng.integers(0, N_PAPERS, N_PAPERS // 2))
    dst.append(rng.integers(0, N_PAPERS, N_PAPERS // 2))
    edges = np.stack([np.concatenate(src), np.concatenate(dst)], 1)
    edges = np.concatenate([edges, edges[:, ::-1], np.stack([np.arange(N_PAPERS)] * 2, 1)])
    edges = np.unique(edges, axis=0)
    centre = rng.random((N_TOPICS, N_WORDS)) < 0.05
    words = (rng.random((N_PAPERS, N_WORDS)) < 0.02 + 0.12 * centre[topic]).astype("float32")
    words /= np.maximum(words.sum(1, keepdims=True), 1)
    return edges.astype("int64"), words, topic.astype("int32")


def normalised_adjacency(edges):
    degree = np.bincount(edges[:, 0], minlength=N_PAPERS).astype("float32")
    values = 1.0 / np.sqrt(degree[edges[:, 0]] * degree[edges[:, 1]])
    adj = np.zeros((N_PAPERS, N_PAPERS), "float32")
    adj[edges[:, 0], edges[:, 1]] = values
    return tf.constant(adj)


class GraphConv(keras.layers.Layer):
    def __init__(self, units, adj, activation=None):
        super().__init__()
        self.units = units
        self.adj = adj
        self.activation = keras.activations.get(activation)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros")

    def call(self, x):
        support = tf.matmul(x, self.kernel)
        out = tf.matmul(self.adj, support)
        return self.activation(out + self.bias)


keras.utils.set_random_seed(2)
edges, features, labels = citation_graph()
adj = normalised_adjacency(edges)
features = tf.constant(features)
perm = np.random.default_rng(1).permutation(N_PAPERS)
train_idx = tf.constant(perm[:500])
val_idx = tf.constant(perm[500:1500])
labels = tf.constant(labels)

gcn = keras.Sequential([
    GraphConv(HIDDEN, adj, "relu"),
    keras.layers.Dropout(0.5),
    GraphConv(HIDDEN, adj, "relu"),
    keras.layers.Dropout(0.5),
    GraphConv(N_TOPICS, adj),
])
gcn(features)
opt = keras.optimizers.Adam(0.01)
opt.build(gcn.trainable_variables)


@tf.function
def train_epoch():
    with tf.GradientTape() as tape:
        logits = tf.gather(gcn(features, training=True), train_idx)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.gather(labels, train_idx), logits=logits))
    grads = tape.gradient(loss, gcn.trainable_variables)
    opt.apply_gradients(zip(grads, gcn.trainable_variables))
    return loss


@tf.function
def accuracy(idx):
    pred = tf.argmax(tf.gather(gcn(features, training=False), idx), 1, output_type=tf.int32)
    return tf.reduce_mean(tf.cast(pred == tf.gather(labels, idx), tf.float32))


for epoch in range(1, EPOCHS + 1):
    loss = train_epoch()
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d} loss {loss.numpy():.4f} val acc {accuracy(val_idx).numpy():.4f}")
