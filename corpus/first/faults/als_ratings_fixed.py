"""Alternating least squares on a small ratings table."""
import numpy as np
import tensorflow as tf

USERS, ITEMS, RANK = 900, 500, 10
REG = 0.1


def ratings():
    rng = np.random.default_rng(55)
    p = rng.normal(size=(USERS, 4))
    q = rng.normal(size=(ITEMS, 4))
    mask = rng.random((USERS, ITEMS)) < 0.1
    return (p @ q.T * mask).astype("float32"), mask.astype("float32")


def solve_side(fixed, values, mask):
    eye = REG * tf.eye(RANK)
    outer = tf.reshape(fixed[:, :, None] * fixed[:, None, :], [-1, RANK * RANK])
    gram = tf.reshape(tf.matmul(mask, outer), [-1, RANK, RANK]) + eye
    rhs = tf.matmul(values, fixed)
    return tf.linalg.solve(gram, rhs[..., None])[..., 0]


def rmse(p, q, values, mask):
    err = (tf.matmul(p, q, transpose_b=True) - values) * mask
    return float(tf.sqrt(tf.reduce_sum(err ** 2) / tf.reduce_sum(mask)))


R, M = map(tf.constant, ratings())
tf.random.set_seed(4)
Q = tf.random.normal([ITEMS, RANK])
for sweep in range(7):
    P = solve_side(Q, R, M)
    Q = solve_side(P, tf.transpose(R), tf.transpose(M))
print("rmse %.5f" % rmse(P, Q, R, M))
