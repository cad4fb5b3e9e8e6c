"""Maximum likelihood fit of a Gaussian process to a light curve."""
import numpy as np
import scipy.optimize
import tensorflow as tf


def light_curve(n, seed):
    rng = np.random.RandomState(seed)
    t = np.sort(rng.uniform(0, 60, n))
    flux = np.sin(2 * np.pi * t / 7.3) * np.exp(-0.5 * np.sin(np.pi * t / 23) ** 2)
    return t, flux + 0.1 * rng.randn(n)


class QuasiPeriodicGP(tf.Module):
    def __init__(self, t, y):
        super().__init__()
        self.t = tf.constant(t, tf.float64)
        self.y = tf.constant(y, tf.float64)[:, None]
        self.eye = tf.eye(len(t), dtype=tf.float64)
        self.lag = self.t[:, None] - self.t[None]

    def covariance(self, params):
        amp, scale, gamma, period, noise = tf.unstack(tf.exp(params))
        k = amp * tf.exp(-0.5 * tf.square(self.lag / scale) - gamma * tf.square(tf.sin(np.pi * self.lag / period)))
        return k + (noise + 1e-8) * self.eye

    @tf.function(input_signature=[tf.TensorSpec((5,), tf.float64)])
    def value_and_grad(self, params):
        with tf.GradientTape() as tape:
            tape.watch(params)
            chol = tf.linalg.cholesky(self.covariance(params))
            alpha = tf.linalg.triangular_solve(chol, self.y)
            nll = 0.5 * tf.reduce_sum(tf.square(alpha)) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
        return nll, tape.gradient(nll, params)

    def fit(self, start, maxiter):
        def objective(p):
            nll, grad = self.value_and_grad(tf.constant(p))
            return float(nll), grad.numpy()

        return scipy.optimize.minimize(objective, np.log(start), jac=True, method="L-BFGS-B",
                                       options=dict(maxiter=maxiter))


if __name__ == "__main__":
    gp = QuasiPeriodicGP(*light_curve(620, seed=4))
    result = gp.fit([1.0, 20.0, 1.0, 7.0, 0.02], maxiter=16)
    print("nll %.2f" % result.fun)
    print("period %.2f" % np.exp(result.x[3]))
