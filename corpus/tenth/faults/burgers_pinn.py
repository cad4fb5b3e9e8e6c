"""
Physics-informed neural network for the viscous Burgers equation

    u_t + u u_x - nu u_xx = 0,   x in [-1, 1], t in [0, 1]
    u(x, 0) = -sin(pi x),  u(-1, t) = u(1, t) = 0
"""
import time
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1234)
DTYPE = "float32"
pi = tf.constant(np.pi, dtype=DTYPE)
nu = 0.01 / np.pi


class PINN(tf.keras.Model):
    def __init__(self, lb, ub, num_hidden=6, width=24, **kwargs):
        super().__init__(**kwargs)
        self.lb = tf.constant(lb, DTYPE)
        self.ub = tf.constant(ub, DTYPE)
        self.hidden = [
            tf.keras.layers.Dense(width, activation="tanh",
                                  kernel_initializer="glorot_normal")
            for _ in range(num_hidden)
        ]
        self.out = tf.keras.layers.Dense(1)

    def call(self, X):
        z = 2.0 * (X - self.lb) / (self.ub - self.lb) - 1.0
        for layer in self.hidden:
            z = layer(z)
        return self.out(z)


def sample_points(n_0=50, n_b=50, n_r=1000):
    t0 = np.zeros((n_0, 1))
    x0 = np.random.uniform(-1, 1, (n_0, 1))
    u0 = -np.sin(np.pi * x0)
    tb = np.random.uniform(0, 1, (n_b, 1))
    xb = np.random.choice([-1.0, 1.0], (n_b, 1))
    ub = np.zeros((n_b, 1))
    tr = np.random.uniform(0, 1, (n_r, 1))
    xr = np.random.uniform(-1, 1, (n_r, 1))
    X_data = np.vstack([np.hstack([t0, x0]), np.hstack([tb, xb])])
    u_data = np.vstack([u0, ub])
    X_r = np.hstack([tr, xr])
    return (tf.constant(X_data, DTYPE), tf.constant(u_data, DTYPE),
            tf.constant(X_r, DTYPE))


def get_residual(model, X_r):
    with tf.GradientTape(persistent=True) as tape:
        t, x = X_r[:, 0:1], X_r[:, 1:2]
        tape.watch(t)
        tape.watch(x)
        u = model(tf.concat([t, x], axis=1))
        u_x = tape.gradient(u, x)
    u_t = tape.gradient(u, t)
    u_xx = tape.gradient(u_x, x)
    del tape
    return u_t + u * u_x - nu * u_xx


def compute_loss(model, X_r, X_data, u_data):
    r = get_residual(model, X_r)
    phi_r = tf.reduce_mean(tf.square(r))
    u_pred = model(X_data)
    return phi_r + tf.reduce_mean(tf.square(u_data - u_pred))


def get_grad(model, X_r, X_data, u_data):
    with tf.GradientTape() as tape:
        loss = compute_loss(model, X_r, X_data, u_data)
    return loss, tape.gradient(loss, model.trainable_variables)


class Solver:
    def __init__(self, model, X_r):
        self.model = model
        self.X_r = X_r
        self.hist = []
        lr = tf.keras.optimizers.schedules.PiecewiseConstantDecay([40, 100], [1e-2, 1e-3, 5e-4])
        self.optim = tf.keras.optimizers.Adam(learning_rate=lr)
        self.optim.build(model.trainable_variables)

    def train_step(self, X_data, u_data):
        loss, grad = get_grad(self.model, self.X_r, X_data, u_data)
        self.optim.apply_gradients(zip(grad, self.model.trainable_variables))
        return loss

    def solve(self, X_data, u_data, N):
        for i in range(N + 1):
            loss = self.train_step(X_data, u_data)
            if i % 20 == 0:
                self.hist.append(float(loss))
                print("It {:05d}: loss = {:10.6e}".format(i, self.hist[-1]))


def main():
    X_data, u_data, X_r = sample_points()
    model = PINN(lb=[0.0, -1.0], ub=[1.0, 1.0])
    model(X_r[:1])
    solver = Solver(model, X_r)
    t0 = time.time()
    solver.solve(X_data, u_data, N=120)
    print("\nComputation time: {:.1f} seconds".format(time.time() - t0))

    x = np.linspace(-1, 1, 9)
    grid = tf.constant(np.stack([np.full_like(x, 0.5), x], 1), DTYPE)
    print("u(0.5, x) =", np.round(model(grid).numpy().ravel(), 3))


if __name__ == "__main__":
    main()
