"""Fit the heat conductivity of soil to temperatures that were measured at several depths, by implicit time steps."""

import tensorflow as tf

DEPTHS, STEPS = 320, 12
tf.random.set_seed(0)
conductivity = tf.Variable(tf.zeros([DEPTHS + 1]))
optimizer = tf.keras.optimizers.Adam(1e-2)


def diffuse(temperature, faces):
    above = tf.pad(-faces[1:-1], [[0, 1]])
    below = tf.pad(-faces[1:-1], [[1, 0]])
    diagonal = 1.0 + faces[1:] + faces[:-1]
    return tf.linalg.tridiagonal_solve((above, diagonal, below), temperature, diagonals_format="sequence")


@tf.function
def train_step(start, measured):
    with tf.GradientTape() as tape:
        faces = 40.0 * tf.nn.softplus(conductivity)
        temperature = start
        for _ in range(STEPS):
            temperature = diffuse(temperature, faces)
        loss = tf.reduce_mean(tf.square(temperature - measured))
    gradients = tape.gradient(loss, [conductivity])
    optimizer.apply_gradients(zip(gradients, [conductivity]))
    return loss


depth = tf.linspace(0.0, 1.0, DEPTHS)[:, None]
for step in range(60):
    days = tf.random.uniform([1, 8])
    start = tf.sin(6.0 * depth + 7.0 * days)
    loss = train_step(start, 0.7 * start)
print("loss", float(loss))
