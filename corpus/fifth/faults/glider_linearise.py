"""Linearises a learned flight model along trajectories, for a controller."""

import time

import numpy as np
import tensorflow as tf

STATE, CONTROL, HORIZON = 12, 4, 96

dynamics = tf.keras.Sequential(
    [
        tf.keras.Input((STATE + CONTROL,)),
        tf.keras.layers.Dense(128, activation="tanh"),
        tf.keras.layers.Dense(128, activation="tanh"),
        tf.keras.layers.Dense(STATE),
    ]
)


@tf.function
def linearise(xu):
    with tf.GradientTape() as tape:
        tape.watch(xu)
        nxt = xu[:, :STATE] + 0.05 * dynamics(xu)
    full = tape.jacobian(nxt, xu)
    ab = tf.transpose(tf.linalg.diag_part(tf.transpose(full, [1, 3, 0, 2])), [2, 0, 1])
    return nxt, ab[:, :, :STATE], ab[:, :, STATE:]


def riccati(A, B, q=1.0, r=0.1):
    P = q * np.eye(STATE, dtype=np.float32)
    gains = []
    for a, b in zip(A[::-1], B[::-1], strict=False):
        K = np.linalg.solve(r * np.eye(CONTROL) + b.T @ P @ b, b.T @ P @ a)
        P = q * np.eye(STATE) + a.T @ P @ (a - b @ K)
        gains.append(K)
    return gains[::-1]


rng = np.random.default_rng(5)
began = time.perf_counter()
for _sweep in range(150):
    track = tf.constant(rng.standard_normal((HORIZON, STATE + CONTROL)), tf.float32)
    nxt, A, B = linearise(track)
    gains = riccati(A.numpy(), B.numpy())
print("gain norm", round(float(np.linalg.norm(gains[0])), 4))
print(f"sweeps took {time.perf_counter() - began:.2f} s")
