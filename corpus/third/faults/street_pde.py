"""Noise along a street: fit a network to a wave equation with SciPy's L-BFGS."""
import numpy as np
import scipy.optimize
import tensorflow as tf

tf.keras.backend.set_floatx("float64")


class WaveNet(tf.Module):
    def __init__(self, widths, seed=0):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.layers = []
        for a, b in zip(widths[:-1], widths[1:]):
            w = tf.Variable(rng.normal(scale=np.sqrt(2 / (a + b)), size=(a, b)))
            self.layers.append((w, tf.Variable(tf.zeros(b, tf.float64))))

    def __call__(self, x, t):
        h = tf.concat([x, t], 1)
        for w, b in self.layers[:-1]:
            h = tf.tanh(h @ w + b)
        return h @ self.layers[-1][0] + self.layers[-1][1]


class Problem:
    def __init__(self, net, count, seed):
        rng = np.random.default_rng(seed)
        self.net = net
        self.x, self.t = (tf.constant(rng.random((count, 1))) for _ in range(2))
        self.x0 = tf.constant(rng.random((100, 1)))
        self.shapes = [v.shape for v in net.trainable_variables]

    def residual(self):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch([self.x, self.t])
            with tf.GradientTape(persistent=True) as inner:
                inner.watch([self.x, self.t])
                u = self.net(self.x, self.t)
            ux, ut = inner.gradient(u, self.x), inner.gradient(u, self.t)
        return outer.gradient(ut, self.t) - 0.25 * outer.gradient(ux, self.x)

    def loss(self):
        start = self.net(self.x0, tf.zeros_like(self.x0)) - tf.sin(np.pi * self.x0)
        return tf.reduce_mean(self.residual() ** 2) + 10.0 * tf.reduce_mean(start ** 2)

    def loss_and_gradient(self):
        with tf.GradientTape() as tape:
            loss = self.loss()
        grads = tape.gradient(loss, self.net.trainable_variables)
        return loss, tf.concat([tf.reshape(g, [-1]) for g in grads], 0)

    def assign(self, vector):
        at = 0
        for v in self.net.trainable_variables:
            size = int(np.prod(v.shape))
            v.assign(vector[at:at + size].reshape(v.shape))
            at += size

    def objective(self, vector):
        self.assign(vector)
        loss, grad = self.loss_and_gradient()
        return float(loss), grad.numpy()


def main():
    net = WaveNet([2, 20, 20, 20, 20, 1])
    problem = Problem(net, 200, 1)
    start = np.concatenate([v.numpy().ravel() for v in net.trainable_variables])
    found = scipy.optimize.minimize(problem.objective, start, jac=True, method="L-BFGS-B",
                                    options={"maxiter": 95, "maxfun": 100})
    print(found.nit, "iterations, loss", found.fun)


if __name__ == "__main__":
    main()
