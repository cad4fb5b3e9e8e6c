"""Fits a mesh to points, with a network for its vertices and a Laplacian that keeps neighbours together."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIDE = 64
VERTICES = SIDE * SIDE


def grid_laplacian():
    laplacian = np.zeros((VERTICES, VERTICES), np.float32)
    for row in range(SIDE):
        for column in range(SIDE):
            here = row * SIDE + column
            for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                there = (row + down) % SIDE * SIDE + (column + right) % SIDE
                laplacian[here, here] += 1
                laplacian[here, there] -= 1
    return laplacian


laplacian = tf.constant(grid_laplacian())
net = keras.Sequential(
    [
        keras.Input((2,)),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(64, activation="tanh"),
        keras.layers.Dense(3),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)
u, v = np.meshgrid(np.linspace(0, 1, SIDE), np.linspace(0, 1, SIDE))
places = tf.constant(np.stack([u.ravel(), v.ravel()], 1), tf.float32)
target = tf.constant(np.stack([u.ravel(), v.ravel(), np.sin(6 * u.ravel())], 1), tf.float32)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        vertices = net(places, training=True)
        bent = tf.matmul(laplacian, vertices)  # FAULT
        loss = tf.reduce_mean((vertices - target) ** 2) + 0.1 * tf.reduce_mean(bent**2)
    weights = net.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


for step in range(200):
    loss = train_step()
    if step % 50 == 0:
        print(f"step {step}: loss {float(loss):.4f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "A mesh's Laplacian, of which one number in 800 is not zero, is multiplied as a dense constant in each step"
# codes = ["GRF021"]
# families = ["graph"]
# source = "Public code of graph convolutions and mesh regularisers in TensorFlow that keeps its adjacency or Laplacian dense"
# ///
