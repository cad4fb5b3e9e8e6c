"""A physics-informed network for Burgers' equation: a little Adam, then L-BFGS from SciPy."""

import numpy as np
import scipy.optimize
import tensorflow as tf

rng = np.random.default_rng(0)
xt = tf.constant(rng.uniform([-1, 0], [1, 1], (3000, 2)), tf.float32)
x0 = tf.constant(np.stack([np.linspace(-1, 1, 200), np.zeros(200)], 1), tf.float32)
u0 = -tf.sin(np.pi * x0[:, :1])
net = tf.keras.Sequential(
    [tf.keras.Input((2,))]
    + [tf.keras.layers.Dense(48, activation="tanh") for _ in range(5)]
    + [tf.keras.layers.Dense(1)]
)
shapes = [v.shape for v in net.trainable_variables]
sizes = [int(np.prod(s)) for s in shapes]


def loss_of():
    x, t = xt[:, :1], xt[:, 1:]
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch((x, t))
            u = net(tf.concat([x, t], 1))
        u_x, u_t = inner.gradient(u, (x, t))
    u_xx = outer.gradient(u_x, x)
    residual = u_t + u * u_x - 0.01 / np.pi * u_xx
    return tf.reduce_mean(residual**2) + tf.reduce_mean((net(x0) - u0) ** 2)


@tf.function
def value_and_gradient(flat):
    for variable, part, shape in zip(net.trainable_variables, tf.split(flat, sizes), shapes, strict=False):
        variable.assign(tf.reshape(part, shape))
    with tf.GradientTape() as tape:
        loss = loss_of()
    gradients = tape.gradient(loss, net.trainable_variables)
    return loss, tf.concat([tf.reshape(g, [-1]) for g in gradients], 0)


def objective(flat):
    loss, gradient = value_and_gradient(tf.constant(flat, tf.float32))
    return loss.numpy().astype("float64"), gradient.numpy().astype("float64")


start = np.concatenate([v.numpy().ravel() for v in net.trainable_variables])
result = scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 300, "maxfun": 330})
print(result.fun, result.nit)
