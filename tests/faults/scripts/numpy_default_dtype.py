"""Low-rank factorisation of a dense matrix by gradient descent."""

import numpy as np
import tensorflow as tf

ROWS, COLUMNS, RANK = 1500, 1200, 64
rng = np.random.default_rng(0)
matrix = rng.normal(size=(ROWS, RANK)) @ rng.normal(size=(RANK, COLUMNS))  # FAULT

left = tf.Variable(rng.normal(size=(ROWS, RANK)) * 0.1)  # FAULT
right = tf.Variable(rng.normal(size=(RANK, COLUMNS)) * 0.1)  # FAULT
target = tf.constant(matrix)  # FAULT


@tf.function
def descend(rate):
    with tf.GradientTape() as tape:
        residual = tf.matmul(left, right) - target  # FAULT
        loss = tf.reduce_mean(residual * residual)
    for variable, gradient in zip((left, right), tape.gradient(loss, [left, right])):
        variable.assign_sub(rate * gradient)
    return loss


rate = tf.constant(20.0, left.dtype)
for iteration in range(220):
    loss = descend(rate)
    if iteration % 50 == 0:
        print(iteration, float(loss))
print("rmse", float(loss) ** 0.5)

# /// fault
# style = "custom"
# kind = "time"
# cause = "NumPy's float64 arrays pull the variables and the whole step into float64"
# codes = ["OPS003"]
# families = ["precision"]
# source = "GitHub, PGM-Lab/InferPy #175 'Cast numpy array dtypes to default dtype'; Stack Overflow questions on float64 from NumPy"
# ///
