"""Threshold sweep over stored detector scores, in the old session style."""
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()
tf1 = tf.compat.v1
tf1.disable_eager_execution()

rng = np.random.default_rng(31)
scores_np = rng.beta(2, 3, size=20000).astype("float32")
truth_np = rng.random(20000) < scores_np

scores = tf1.placeholder(tf.float32, [None], "scores")
truth = tf1.placeholder(tf.bool, [None], "truth")


def f_beta(threshold, beta=1.0):
    hit = scores > threshold
    tp = tf.reduce_sum(tf.cast(hit & truth, tf.float32))
    precision = tp / (tf.reduce_sum(tf.cast(hit, tf.float32)) + 1e-9)
    recall = tp / (tf.reduce_sum(tf.cast(truth, tf.float32)) + 1e-9)
    b2 = beta ** 2
    return (1 + b2) * precision * recall / (b2 * precision + recall + 1e-9)


sess = tf1.Session()
feed = {scores: scores_np, truth: truth_np}
threshold = tf1.placeholder(tf.float32, [])
f1 = f_beta(threshold)
best = (0.0, None)
for i, t in enumerate(np.linspace(0.05, 0.95, 700).astype("float32")):
    value = sess.run(f1, {**feed, threshold: t})
    if value > best[0]:
        best = (float(value), float(t))
    if i % 100 == 0:
        print("threshold %.3f  F1 %.4f" % (t, value))
print("best F1 %.4f at %.3f" % best)
sess.close()
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
