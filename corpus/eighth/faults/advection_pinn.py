"""Physics-informed net for u_t + c u_x = 0 with a sine as initial state."""
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()
tf.keras.utils.set_random_seed(21)

C, POINTS, STEPS = 0.7, 300, 120
rng = np.random.default_rng(2)

net = tf.keras.Sequential([tf.keras.layers.Input((2,))]
                          + [tf.keras.layers.Dense(48, activation="tanh") for _ in range(4)]
                          + [tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(3e-3)


def residual(tx):
    with tf.GradientTape() as g:
        g.watch(tx)
        u = net(tx)
    du = tf.reduce_sum(g.jacobian(u, tx), axis=[1, 2])
    return du[:, 0] + C * du[:, 1]


@tf.function
def train_step(inner, initial):
    with tf.GradientTape() as tape:
        pde = tf.reduce_mean(tf.square(residual(inner)))
        u0 = tf.sin(np.pi * initial[:, 1:])
        start = tf.reduce_mean(tf.square(net(initial) - u0))
        loss = pde + 10.0 * start
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return pde, start


for step in range(STEPS):
    inner = rng.uniform([0, -1], [1, 1], (POINTS, 2)).astype("float32")
    initial = np.stack([np.zeros(100), rng.uniform(-1, 1, 100)], 1).astype("float32")
    pde, start = train_step(tf.constant(inner), tf.constant(initial))
    if step % 20 == 0:
        print(f"{step:4d}  residual {float(pde):.5f}  start {float(start):.5f}")

grid = np.stack([np.full(50, 0.5), np.linspace(-0.5, 0.9, 50)], 1).astype("float32")
exact = np.sin(np.pi * (grid[:, 1] - C * 0.5))
print("error at t=0.5:", np.abs(net(grid).numpy()[:, 0] - exact).mean())
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
