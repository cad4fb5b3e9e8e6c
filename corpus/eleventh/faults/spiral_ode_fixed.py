"""Neural ODE fitted to a noisy damped spiral (RK4, back-propagation through the solver)."""
import numpy as np
import tensorflow as tf

T_END = 12.0
N_STEPS = 240
BATCH = 64
ITERS = 40


class Field(tf.Module):
    def __init__(self, width=32, name=None):
        super().__init__(name)
        init = tf.random.Generator.from_seed(8)
        self.w1 = tf.Variable(init.normal([2, width]) * 0.5)
        self.b1 = tf.Variable(tf.zeros([width]))
        self.w2 = tf.Variable(init.normal([width, 2]) * 0.1)
        self.b2 = tf.Variable(tf.zeros([2]))

    def __call__(self, y):
        return tf.tanh((y ** 3) @ self.w1 + self.b1) @ self.w2 + self.b2


def rk4_step(f, y, dt):
    k1 = f(y)
    k2 = f(y + 0.5 * dt * k1)
    k3 = f(y + 0.5 * dt * k2)
    k4 = f(y + dt * k3)
    return y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def odeint(f, y0, n_steps, dt):
    y = y0
    path = tf.TensorArray(tf.float32, size=n_steps, element_shape=y0.shape)
    for i in tf.range(n_steps):
        y = rk4_step(f, y, dt)
        path = path.write(i, y)
    return path.stack()


def true_paths(y0):
    a = np.array([[-0.1, 2.0], [-2.0, -0.1]], np.float32)
    dt = T_END / N_STEPS
    y, out = y0.copy(), []
    for _ in range(N_STEPS):
        y = rk4_step(lambda s: (s ** 3) @ a, y, dt)
        out.append(y)
    return np.stack(out)


rng = np.random.default_rng(0)
start = rng.uniform(-1.0, 1.0, (BATCH, 2)).astype(np.float32)
paths = true_paths(start) + rng.normal(0, 0.01, (N_STEPS, BATCH, 2))
start = tf.constant(start)
paths = tf.constant(paths, tf.float32)

field = Field()
optimizer = tf.keras.optimizers.Adam(5e-3)
optimizer.build(field.trainable_variables)


@tf.function
def train_step(y0, target):
    with tf.GradientTape() as tape:
        pred = odeint(field, y0, N_STEPS, T_END / N_STEPS)
        loss = tf.reduce_mean(tf.abs(pred - target))
    variables = field.trainable_variables
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


for it in range(ITERS):
    loss = train_step(start, paths)
    if it % 10 == 0 or it == ITERS - 1:
        print(f"iter {it:3d}   mean abs error {float(loss):.4f}")
