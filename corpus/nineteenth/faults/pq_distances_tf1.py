import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


class ProductQuantizer(object):
    """Lookup tables of descriptor / centroid products, sub-vector by sub-vector."""

    def __init__(self, sess, n_sub=16, n_centroids=32, sub_dim=8, seed=0):
        self.sess = sess
        self.n_sub, self.n_centroids, self.sub_dim = n_sub, n_centroids, sub_dim
        rng = np.random.RandomState(seed)
        self.centroids = rng.randn(n_sub, n_centroids, sub_dim).astype(np.float32)
        self.vector = tf.placeholder(tf.float32, [sub_dim], name="vector")
        self.codebook = tf.placeholder(tf.float32, [n_centroids, sub_dim], name="codebook")
        self.temperature = tf.Variable(0.7, dtype=tf.float32, trainable=False)

    def soft_assign(self):
        diff = tf.square(self.codebook - self.vector[tf.newaxis])
        dist = tf.reduce_sum(diff, axis=1)
        return tf.nn.softmax(-dist / self.temperature), dist

    def table(self, descriptor):
        rows, codes = [], []
        parts = descriptor.reshape(self.n_sub, self.sub_dim)
        for sub in range(self.n_sub):
            weights, dist = self.soft_assign()
            w, d = self.sess.run([weights, dist],
                                 feed_dict={self.vector: parts[sub], self.codebook: self.centroids[sub]})
            rows.append(w)
            codes.append(d.argmin())
        return np.stack(rows), np.array(codes)


def synthetic_descriptors(n, dim, seed):
    rng = np.random.RandomState(seed)
    centers = rng.randn(5, dim)
    return (centers[rng.randint(0, 5, n)] + 0.5 * rng.randn(n, dim)).astype(np.float32)


def main():
    config = tf.ConfigProto(intra_op_parallelism_threads=2)
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        quantizer = ProductQuantizer(sess)
        sess.run(tf.global_variables_initializer())
        images = synthetic_descriptors(13, quantizer.n_sub * quantizer.sub_dim, seed=1)
        histogram = np.zeros(quantizer.n_centroids, np.int64)
        confidence = []
        for image in images:
            table, codes = quantizer.table(image)
            histogram += np.bincount(codes, minlength=quantizer.n_centroids)
            confidence.append(table.max(axis=1).mean())
        print("most used centroids", np.argsort(-histogram, kind="stable")[:6].tolist())
        print("mean confidence %.4f" % np.mean(confidence))


if __name__ == "__main__":
    main()
