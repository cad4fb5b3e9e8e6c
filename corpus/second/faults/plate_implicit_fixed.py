import numpy as np
import tensorflow as tf

# Implicit diffusion on a ring of cells with random conductivity.
CELLS = 480
STEPS = 3200

rng = np.random.default_rng(77)
conduct = rng.uniform(0.5, 2.0, CELLS)
stiffness = np.zeros((CELLS, CELLS))
for k in range(CELLS):
    n = (k + 1) % CELLS
    stiffness[k, k] += conduct[k]
    stiffness[n, n] += conduct[k]
    stiffness[k, n] -= conduct[k]
    stiffness[n, k] -= conduct[k]


@tf.function
def march(matrix, field, source, dt, steps):
    system = tf.eye(CELLS, dtype=matrix.dtype) + dt * matrix
    factor = tf.linalg.cholesky(system)
    heat = tf.zeros([steps], matrix.dtype)
    for i in tf.range(steps):
        wave = tf.sin(0.01 * tf.cast(i, matrix.dtype))
        right = field + dt * source * wave
        field = tf.linalg.cholesky_solve(factor, right)
        heat = tf.tensor_scatter_nd_update(heat, [[i]], [tf.reduce_max(field)])
    return field, heat


matrix = tf.constant(stiffness)
start = tf.constant(rng.normal(size=(CELLS, 4)))
source = tf.constant(rng.normal(size=(CELLS, 4)))
field, heat = march(matrix, start, source, tf.constant(0.05, tf.float64), tf.constant(STEPS))
print("final spread %.6f" % float(tf.math.reduce_std(field)), "hottest %.6f" % float(tf.reduce_max(heat)))
