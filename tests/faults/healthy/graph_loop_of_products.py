"""Powers of a large matrix in a loop of a compiled function: each turn needs the one before, and does real work."""

import tensorflow as tf


@tf.function
def power(matrix, turns):
    product = matrix
    for _ in tf.range(turns):
        product = tf.linalg.matmul(product, matrix)
        product /= tf.norm(product)
    return product


tf.random.set_seed(0)
matrix = tf.random.normal((320, 320))
total = 0.0
for _ in range(40):
    total += float(tf.reduce_sum(power(matrix, tf.constant(80))))
print("total", total)

# /// healthy
# style = "custom"
# ///
