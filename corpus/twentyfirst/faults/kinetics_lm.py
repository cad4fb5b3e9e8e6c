"""Levenberg-Marquardt fit of a small reaction network to batch experiments.

A -> B -> C with a reversible side product B <-> D, Arrhenius rates.  All
experiments are integrated together with a fixed step Runge-Kutta scheme.
"""
import numpy as np
import tensorflow as tf

DTYPE = tf.float64
R = 8.314e-3  # kJ / mol / K
T_REF = 330.0
NUM_SAMPLES = 6  # measurement times
TEMPERATURES = np.repeat([300., 315., 330., 345., 360.], 4)
LOADINGS = np.tile([0.5, 1.0, 1.5, 2.0], 5)
# d[A, B, C, D]/dt for unit rates of A->B, B->C, B->D, D->B
STOICHIOMETRY = np.zeros((4, 4, 4))
for _r, (_src, _dst) in enumerate([(0, 1), (1, 2), (1, 3), (3, 1)]):
  STOICHIOMETRY[_r, _src, _src] -= 1.
  STOICHIOMETRY[_r, _dst, _src] += 1.


def rate_matrices(theta):
  """First-order rate matrix of each experiment, shape [n_exp, 4, 4]."""
  log_k, e_act = theta[:4, None], theta[4:, None]
  inv_t = (1. / TEMPERATURES - 1. / T_REF) / R
  k = tf.exp(log_k - e_act * inv_t[None, :])
  return tf.einsum('rn,rij->nij', k, STOICHIOMETRY)


def simulate(theta, dt=0.8):
  rates = rate_matrices(theta)
  c = tf.constant(np.stack([LOADINGS] + [0. * LOADINGS] * 3, axis=-1))
  history = []
  for _ in range(NUM_SAMPLES):
    k1 = tf.linalg.matvec(rates, c)
    k2 = tf.linalg.matvec(rates, c + 0.5 * dt * k1)
    k3 = tf.linalg.matvec(rates, c + 0.5 * dt * k2)
    k4 = tf.linalg.matvec(rates, c + dt * k3)
    c = c + dt / 6. * (k1 + 2. * k2 + 2. * k3 + k4)
    history.append(c)
  return tf.stack(history)  # [time, n_exp, species]


class LevenbergMarquardt:

  def __init__(self, observed, sigma=0.01, damping=1e-2):
    self.observed = tf.constant(observed, dtype=DTYPE)
    self.sigma = sigma
    self.damping = damping

  def residuals(self, theta):
    predicted = tf.gather(simulate(theta), [0, 1, 3], axis=2)
    return tf.reshape((predicted - self.observed) / self.sigma, [-1])

  def residuals_and_jacobian(self, theta):
    with tf.GradientTape() as tape:
      tape.watch(theta)
      res = self.residuals(theta)
    return res, tape.jacobian(res, theta)

  def step(self, theta):
    res, jac = self.residuals_and_jacobian(theta)
    cost = float(tf.reduce_sum(res ** 2))
    jtj = tf.matmul(jac, jac, transpose_a=True)
    grad = tf.linalg.matvec(jac, res, transpose_a=True)
    while True:
      lhs = jtj + self.damping * tf.linalg.diag(tf.linalg.diag_part(jtj))
      trial = theta - tf.linalg.solve(lhs, grad[:, None])[:, 0]
      trial_cost = float(tf.reduce_sum(self.residuals(trial) ** 2))
      if np.isfinite(trial_cost) and trial_cost < cost:
        self.damping = max(self.damping / 5., 1e-9)
        return trial, trial_cost
      self.damping *= 4.
      if self.damping > 1e8:
        return theta, cost

  def fit(self, theta, max_iter=12, rtol=1e-8):
    last = np.inf
    for it in range(max_iter):
      theta, cost = self.step(theta)
      if abs(last - cost) < rtol * cost:
        break
      last = cost
    return theta, cost, it + 1


def main():
  rng = np.random.default_rng(8)
  truth = np.array([-1.2, -2.0, -1.8, -2.4, 55., 70., 40., 62.])
  clean = simulate(tf.constant(truth, dtype=DTYPE)).numpy()[..., [0, 1, 3]]
  for replicate in range(3):
    observed = clean + 0.01 * rng.standard_normal(clean.shape)
    start = truth + np.concatenate([
        0.5 * rng.standard_normal(4), 8. * rng.standard_normal(4)])
    solver = LevenbergMarquardt(observed)
    theta, cost, iterations = solver.fit(tf.constant(start, dtype=DTYPE))
    print('replicate %d  iterations %d  reduced chi2 %.5f' % (
        replicate, iterations, cost / (observed.size - truth.size)))
    print('  ln k ', np.round(theta.numpy()[:4], 4))
    print('  E_act', np.round(theta.numpy()[4:], 3))


if __name__ == '__main__':
  main()
