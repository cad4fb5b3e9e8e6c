"""Volatility forecasting with a mixture density network, TF1 graph style."""
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

LAGS, MIXTURES = 40, 3


def garch_returns(n, seed):
    rng = np.random.RandomState(seed)
    eps, r, var = rng.standard_t(6, size=n) * np.sqrt(4.0 / 6.0), np.zeros(n), 1.0
    for t in range(n):
        r[t] = np.sqrt(var) * eps[t]
        var = 0.03 + 0.08 * r[t] ** 2 + 0.89 * var
    return r.astype("float32")


def windows(r):
    x = np.lib.stride_tricks.sliding_window_view(r[:-1], LAGS)
    return np.concatenate([x, np.abs(x), x ** 2], axis=1).astype("float32"), r[LAGS:]


def build(features):
    x = tf.placeholder(tf.float32, [None, features], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    h = x
    for i, width in enumerate([128, 128, 64]):
        w = tf.get_variable("w%d" % i, [h.shape[1], width], initializer=tf.glorot_uniform_initializer(seed=i))
        b = tf.get_variable("b%d" % i, [width], initializer=tf.zeros_initializer())
        h = tf.nn.elu(tf.matmul(h, w) + b)
    w = tf.get_variable("w_out", [64, 3 * MIXTURES], initializer=tf.glorot_uniform_initializer(seed=7))
    b = tf.get_variable("b_out", [3 * MIXTURES], initializer=tf.zeros_initializer())
    logits, mu, log_sigma = tf.split(tf.matmul(h, w) + b, 3, axis=1)
    log_prob = -0.5 * tf.square((y[:, None] - mu) * tf.exp(-log_sigma)) - log_sigma - 0.9189385
    nll = -tf.reduce_mean(tf.reduce_logsumexp(tf.nn.log_softmax(logits) + log_prob, axis=1))
    lr = tf.placeholder_with_default(1e-3, [], name="lr")
    optimizer = tf.train.AdamOptimizer(lr)
    grads, variables = zip(*optimizer.compute_gradients(nll))
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    return x, y, lr, nll, optimizer.apply_gradients(zip(grads, variables))


def main(epochs=16, batch_size=128):
    r = garch_returns(24000, seed=1)
    x_all, y_all = windows(r)
    x_train, y_train, x_valid, y_valid = x_all[:20000], y_all[:20000], x_all[20000:], y_all[20000:]
    mean, std = x_train.mean(axis=0), x_train.std(axis=0)
    x_train, x_valid = (x_train - mean) / std, (x_valid - mean) / std
    tf.set_random_seed(0)
    x, y, lr, nll, train_op = build(x_train.shape[1])
    init, saver = tf.global_variables_initializer(), tf.train.Saver(max_to_keep=1)
    tf.get_default_graph().finalize()
    rng, best, path = np.random.RandomState(2), np.inf, os.path.join(tempfile.mkdtemp(), "mdn.ckpt")
    with tf.Session() as sess:
        sess.run(init)
        for epoch in range(epochs):
            order = rng.permutation(len(x_train))
            rate = 1e-3 * 0.5 ** (epoch // 5)
            for start in range(0, len(order), batch_size):
                idx = order[start:start + batch_size]
                sess.run(train_op, {x: x_train[idx], y: y_train[idx], lr: rate})
            loss = sess.run(nll, {x: x_valid, y: y_valid})
            if loss < best:
                best = loss
                saver.save(sess, path, write_meta_graph=False)
        saver.restore(sess, path)
        print("best validation nll %.5f  restored %.5f" % (best, sess.run(nll, {x: x_valid, y: y_valid})))


if __name__ == "__main__":
    main()
