import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def build_graph(n_features, n_classes, hidden=(512, 512, 512), seed=0):
    g = tf.Graph()
    with g.as_default():
        tf.set_random_seed(seed)
        rng = np.random.RandomState(seed)
        x = tf.placeholder(tf.float32, [None, n_features], "x")
        y = tf.placeholder(tf.int64, [None], "y")
        h, width = x, n_features
        for i, units in enumerate(hidden):
            with tf.variable_scope("layer%d" % i):
                w = tf.get_variable("w", initializer=(rng.randn(width, units) / np.sqrt(width)).astype(np.float32))
                h = tf.nn.elu(tf.matmul(h, w))
            width = units
        w = tf.get_variable("w_out", initializer=(rng.randn(width, n_classes) / np.sqrt(width)).astype(np.float32))
        logits = tf.matmul(h, w)
        prob = tf.nn.softmax(logits)
        ops = dict(
            x=x, y=y,
            loss=tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)),
            accuracy=tf.reduce_mean(tf.cast(tf.equal(tf.argmax(prob, 1), y), tf.float32)),
            confidence=tf.reduce_max(prob, axis=1),
            top3=tf.nn.top_k(prob, 3).indices,
            embedding=tf.nn.l2_normalize(h, axis=1),
        )
    return g, ops


def batches(n, size):
    for i in range(0, n, size):
        yield slice(i, min(i + size, n))


class Evaluator(object):
    def __init__(self, graph, ops):
        self.ops = ops
        self.sess = tf.Session(graph=graph)
        with graph.as_default():
            self.sess.run(tf.global_variables_initializer())

    def evaluate(self, features, labels, batch_size=256):
        report = dict(loss=0.0, accuracy=0.0, confidence=[], top3=0.0, centroid=0.0)
        for s in batches(len(features), batch_size):
            feed = {self.ops["x"]: features[s], self.ops["y"]: labels[s]}
            weight = (s.stop - s.start) / float(len(features))
            names = ("loss", "accuracy", "confidence", "top3", "embedding")
            loss, accuracy, confidence, top3, embedding = self.sess.run([self.ops[k] for k in names], feed)
            report["loss"] += weight * loss
            report["accuracy"] += weight * accuracy
            report["confidence"].append(confidence)
            report["top3"] += weight * np.mean((top3 == labels[s][:, None]).any(axis=1))
            report["centroid"] += embedding.sum(axis=0)
        report["confidence"] = np.concatenate(report["confidence"]).mean()
        report["centroid"] = np.linalg.norm(report["centroid"]) / len(features)
        return report


if __name__ == "__main__":
    rng = np.random.RandomState(1)
    features = rng.randn(24000, 256).astype(np.float32)
    labels = rng.randint(0, 12, len(features))
    graph, ops = build_graph(256, 12)
    evaluator = Evaluator(graph, ops)
    for name, noise in (("clean", 0.0), ("noisy", 0.5)):
        data = features + noise * rng.randn(*features.shape).astype(np.float32)
        report = evaluator.evaluate(data, labels)
        print(name, " ".join("%s=%.4f" % (k, v) for k, v in sorted(report.items())))
