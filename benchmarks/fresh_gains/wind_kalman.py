"""A Kalman filter over many short series of wind, written with TensorFlow's operations."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
MOVE = tf.constant([[1.0, 1.0], [0.0, 1.0]])
SEEN = tf.constant([[1.0, 0.0]])
DRIFT, NOISE = 0.01 * tf.eye(2), tf.constant([[0.5]])


def update(state, spread, measured):  # FAULT
    state = tf.matmul(MOVE, state)
    spread = tf.matmul(tf.matmul(MOVE, spread), MOVE, transpose_b=True) + DRIFT
    error = measured - tf.matmul(SEEN, state)
    whole = tf.matmul(tf.matmul(SEEN, spread), SEEN, transpose_b=True) + NOISE
    gain = tf.matmul(tf.matmul(spread, SEEN, transpose_b=True), tf.linalg.inv(whole))
    state = state + tf.matmul(gain, error)
    spread = tf.matmul(tf.eye(2) - tf.matmul(gain, SEEN), spread)
    return state, spread


def smooth(series):
    state, spread = tf.zeros((2, 1)), tf.eye(2)
    states = []
    for value in series:
        state, spread = update(state, spread, tf.reshape(value, (1, 1)))
        states.append(state)
    return tf.stack(states)


stations = rng.normal(size=(60, 120)).cumsum(1).astype("float32")
total = 0.0
for station in stations:
    total += float(tf.reduce_sum(smooth(station)))
print("sum", total)
