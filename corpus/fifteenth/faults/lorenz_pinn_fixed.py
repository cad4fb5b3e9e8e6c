"""Physics-informed network for the Lorenz system on a short interval."""
import numpy as np
import tensorflow as tf
import keras

SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0
Y0 = np.array([1.0, 1.0, 1.0], np.float32)
T_END = 0.6
N_POINTS = 128
STEPS = 300
SCALE = tf.constant([10.0, 10.0, 20.0])


def reference(t):
    """RK4 solution for the final comparison."""
    def f(y):
        return np.array([SIGMA * (y[1] - y[0]), y[0] * (RHO - y[2]) - y[1], y[0] * y[1] - BETA * y[2]])

    y, out, h = Y0.astype(np.float64), [], t[1] - t[0]
    for _ in t:
        out.append(y)
        k1 = f(y); k2 = f(y + h / 2 * k1); k3 = f(y + h / 2 * k2); k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.array(out)


class Trajectory(keras.Model):
    def __init__(self, width=64, depth=3):
        super().__init__()
        self.hidden = [keras.layers.Dense(width, activation="tanh") for _ in range(depth)]
        self.head = keras.layers.Dense(3)

    def call(self, t):
        h = t / T_END * 2.0 - 1.0
        for layer in self.hidden:
            h = layer(h)
        # the initial condition is built in
        return Y0 + t * SCALE * self.head(h)


def lorenz_rhs(y):
    a, b, c = tf.unstack(y, axis=1)
    return tf.stack([SIGMA * (b - a), a * (RHO - c) - b, a * b - BETA * c], axis=1)


def time_derivative(net, t):
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = net(t)
    return y, tape.batch_jacobian(y, t)[..., 0]


def main():
    keras.utils.set_random_seed(17)
    net = Trajectory()
    net(tf.zeros((1, 1)))
    schedule = keras.optimizers.schedules.ExponentialDecay(2e-3, 200, 0.8)
    opt = keras.optimizers.Adam(schedule)
    opt.build(net.trainable_variables)

    @tf.function
    def train_step(t):
        with tf.GradientTape() as tape:
            y, dy = time_derivative(net, t)
            residual = (dy - lorenz_rhs(y)) / SCALE
            loss = tf.reduce_mean(tf.square(residual))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    rng = np.random.default_rng(0)
    for step in range(STEPS):
        pts = rng.uniform(0, T_END, size=(N_POINTS, 1)).astype(np.float32)
        loss = train_step(tf.constant(pts))
        if step % 100 == 0 or step == STEPS - 1:
            print(f"step {step:4d}  residual {float(loss):.5f}")

    grid = np.linspace(0, T_END, 301)
    pred = net(tf.constant(grid[:, None], tf.float32)).numpy()
    print("rmse vs RK4:", float(np.sqrt(np.mean((pred - reference(grid)) ** 2))))


if __name__ == "__main__":
    main()
