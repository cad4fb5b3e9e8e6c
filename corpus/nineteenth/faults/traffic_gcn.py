"""Smoothing of sensor readings over a large road network with a graph filter (inference only)."""
import numpy as np
import scipy.sparse as sp
import tensorflow as tf


def road_network(n, seed):
    rng = np.random.RandomState(seed)
    xy = rng.rand(n, 2)
    order = np.lexsort((xy[:, 1], (xy[:, 0] * 40).astype(int)))
    i = np.arange(n - 1)
    rows, cols = [order[i]], [order[i + 1]]
    for shift in (2, 40):
        rows.append(order[:-shift])
        cols.append(order[shift:])
    rows, cols = np.concatenate(rows), np.concatenate(cols)
    a = sp.coo_matrix((np.ones(len(rows)), (rows, cols)), shape=(n, n))
    return ((a + a.T) > 0).astype(np.float32)


def gcn_filter(a):
    a = a + sp.eye(a.shape[0], dtype=np.float32)
    d = np.asarray(a.sum(1)).ravel() ** -0.5
    return sp.diags(d) @ a @ sp.diags(d)


class GraphConv(tf.keras.layers.Layer):
    def __init__(self, channels, activation=None, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.channels = channels
        self.activation = tf.keras.activations.get(activation)
        self.seed = seed

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.channels),
                                      initializer=tf.keras.initializers.GlorotUniform(self.seed))

    def call(self, x, a):
        return self.activation(tf.matmul(a, tf.matmul(x, self.kernel)))


class TrafficModel(tf.keras.Model):
    def __init__(self, hidden=32):
        super().__init__()
        self.convs = [GraphConv(hidden, "relu", seed=k) for k in range(3)] + [GraphConv(1, seed=9)]

    def call(self, x, a):
        for conv in self.convs:
            x = conv(x, a)
        return x


class Forecaster:
    def __init__(self, model, adjacency):
        self.model = model
        self.a = tf.constant(gcn_filter(adjacency).toarray(), tf.float32)

    @tf.function(reduce_retracing=True)
    def _forward(self, x, a):
        return self.model(x, a)

    def __call__(self, readings):
        return self._forward(tf.constant(readings), self.a).numpy()[:, 0]


def main():
    n = 5000
    forecaster = Forecaster(TrafficModel(), road_network(n, seed=3))
    rng = np.random.RandomState(8)
    base = rng.rand(n, 12).astype(np.float32)
    history = []
    for minute in range(40):
        readings = base + 0.1 * rng.randn(n, 12).astype(np.float32)
        history.append(forecaster(readings))
    history = np.array(history)
    print("forecasts", history.shape)
    print("mean %.4f  spread %.4f" % (history.mean(), history.std(0).mean()))


if __name__ == "__main__":
    main()
