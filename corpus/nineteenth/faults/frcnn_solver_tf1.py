"""Solver with staircase learning rate and normalised snapshots, graph mode."""
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class Cfg:
    LEARNING_RATE = 0.05
    GAMMA = 0.97
    STEPSIZE = 4
    SNAPSHOT_ITERS = 6
    BATCH = 32
    MEANS = np.array([0.1, -0.2, 0.05, 0.3], np.float32)
    STDS = np.array([0.5, 0.5, 0.8, 0.8], np.float32)


class BoxHead(object):
    def __init__(self, dim, hidden=64):
        self.data = tf.placeholder(tf.float32, [None, dim], name="data")
        self.targets = tf.placeholder(tf.float32, [None, 4], name="targets")
        with tf.variable_scope("fc6"):
            w = tf.get_variable("weights", [dim, hidden])
            b = tf.get_variable("biases", [hidden], initializer=tf.zeros_initializer())
            net = tf.nn.relu(tf.matmul(self.data, w) + b)
        with tf.variable_scope("bbox_pred"):
            w = tf.get_variable("weights", [hidden, 4])
            b = tf.get_variable("biases", [4], initializer=tf.zeros_initializer())
            self.bbox_pred = tf.matmul(net, w) + b
        diff = self.bbox_pred - self.targets
        near = tf.cast(tf.abs(diff) < 1.0, tf.float32)
        self.loss = tf.reduce_mean(
            near * 0.5 * diff * diff + (1 - near) * (tf.abs(diff) - 0.5)
        )


class SolverWrapper(object):
    def __init__(self, sess, network, output_dir):
        self.sess = sess
        self.net = network
        self.output_dir = output_dir
        self.lr = tf.Variable(Cfg.LEARNING_RATE, trainable=False, name="lr")
        self.train_op = tf.train.MomentumOptimizer(self.lr, 0.9).minimize(network.loss)
        self.snapshots = 0
        with tf.variable_scope("bbox_pred", reuse=True):
            self.weights = tf.get_variable("weights")
            self.biases = tf.get_variable("biases")

    def snapshot(self, iteration):
        orig_w, orig_b = self.sess.run([self.weights, self.biases])
        self.sess.run(self.weights.assign(orig_w * Cfg.STDS))
        self.sess.run(self.biases.assign(orig_b * Cfg.STDS + Cfg.MEANS))
        blob = self.sess.run([self.weights, self.biases])
        np.savez(os.path.join(self.output_dir, "iter_%d" % iteration), *blob)
        self.snapshots += 1
        self.sess.run(self.weights.assign(orig_w))
        self.sess.run(self.biases.assign(orig_b))

    def train_model(self, batches, max_iters):
        self.sess.run(tf.global_variables_initializer())
        losses = []
        for it in range(max_iters):
            x, t = next(batches)
            feed = {self.net.data: x, self.net.targets: t}
            loss, _ = self.sess.run([self.net.loss, self.train_op], feed_dict=feed)
            losses.append(loss)
            if (it + 1) % Cfg.STEPSIZE == 0:
                self.sess.run(tf.assign(self.lr, self.lr * Cfg.GAMMA))
            if (it + 1) % Cfg.SNAPSHOT_ITERS == 0:
                self.snapshot(it + 1)
        return losses


def proposals(dim, seed=6):
    rng = np.random.RandomState(seed)
    mix = rng.randn(dim, 4).astype(np.float32) / np.sqrt(dim)
    while True:
        x = rng.randn(Cfg.BATCH, dim).astype(np.float32)
        yield x, np.tanh(x @ mix)


if __name__ == "__main__":
    tf.set_random_seed(3)
    network = BoxHead(dim=128)
    with tempfile.TemporaryDirectory() as out, tf.Session() as sess:
        solver = SolverWrapper(sess, network, out)
        losses = solver.train_model(proposals(128), max_iters=420)
        lr = sess.run(solver.lr)
        print("snapshots", len(os.listdir(out)), solver.snapshots)
    print("loss %.4f -> %.4f" % (np.mean(losses[:20]), np.mean(losses[-20:])))
    print("lr %.3e" % lr)
