import os
import shutil
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


def inference(x, weights):
    h = x
    for i, w in enumerate(weights):
        v = tf.get_variable("w%d" % i, initializer=w)
        h = tf.matmul(h, v)
        if i < len(weights) - 1:
            h = tf.nn.relu(h)
    return tf.nn.softmax(h, name="prob"), tf.reduce_logsumexp(h, axis=1, name="energy")


class OutlierScorer(object):
    def __init__(self, checkpoint, weights):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None, weights[0].shape[0]])
            self.prob, self.energy = inference(self.x, weights)
            saver = tf.train.Saver()
            self.sess = tf.Session(graph=self.graph)
            if tf.train.latest_checkpoint(checkpoint):
                saver.restore(self.sess, tf.train.latest_checkpoint(checkpoint))
            else:
                self.sess.run(tf.global_variables_initializer())
                saver.save(self.sess, os.path.join(checkpoint, "model"))
        self.graph.finalize()

    def score(self, rows):
        return self.sess.run([self.prob, self.energy], {self.x: rows})


def day_of_spectra(day, n=6000, dim=600):
    rng = np.random.RandomState(day)
    base = np.cumsum(rng.randn(dim)) / 30
    return (base + rng.randn(n, dim)).astype(np.float32)


def main():
    rng = np.random.RandomState(0)
    sizes = (600, 1200, 1200, 300, 10)
    weights = [(rng.randn(a, b) * np.sqrt(2.0 / a)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
    folder = tempfile.mkdtemp()
    try:
        OutlierScorer(folder, weights).sess.close()
        scorer = OutlierScorer(folder, [np.zeros_like(w) for w in weights])
        for day in range(5):
            spectra = day_of_spectra(day)
            energies, classes = [], np.zeros(10, int)
            for k in range(0, len(spectra), 500):
                prob, energy = scorer.score(spectra[k:k + 500])
                energies.append(energy)
                classes += np.bincount(prob.argmax(1), minlength=10)
            energies = np.concatenate(energies)
            print("day", day, "outliers", int((energies < energies.mean() - 2.5 * energies.std()).sum()), classes.argmax())
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
