"""Hamiltonian Monte Carlo over the hyperparameters of a GP regression.

The chain is sequential: each leapfrog step needs the gradient at the point the
previous one arrived at.
"""
import numpy as np
import tensorflow as tf

DTYPE = tf.float64
N = 900
NUM_SAMPLES = 22
LEAPFROG = 6
STEP_SIZE = 0.04


def make_data():
  rng = np.random.default_rng(10)
  x = np.sort(rng.uniform(0, 12, size=(N, 1)), axis=0)
  y = np.sin(x[:, 0]) + 0.5 * np.sin(3.3 * x[:, 0]) + 0.2 * rng.standard_normal(N)
  return x, y - y.mean()


X, Y = make_data()
SQUARED_DISTANCE = tf.constant((X - X.T) ** 2, dtype=DTYPE)
TARGET = tf.constant(Y[:, None], dtype=DTYPE)
EYE = tf.eye(N, dtype=DTYPE)


PRIOR_MEAN = tf.constant([0., 0., -2.], dtype=DTYPE)


@tf.function(input_signature=[tf.TensorSpec([3], DTYPE)])
def value_and_grad(theta):
  """theta: log lengthscale, log signal variance, log noise variance."""
  lengthscale, signal, noise = tf.unstack(tf.exp(theta))
  scaled = SQUARED_DISTANCE / lengthscale ** 2
  k = signal * tf.exp(-0.5 * scaled)
  chol = tf.linalg.cholesky(k + noise * EYE)
  inverse = tf.linalg.cholesky_solve(chol, EYE)
  alpha = tf.matmul(inverse, TARGET)
  logdet = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
  shifted = (theta - PRIOR_MEAN) / 1.5
  value = (-0.5 * tf.reduce_sum(TARGET * alpha) - logdet
           - 0.5 * tf.reduce_sum(shifted ** 2))
  # d value / d K = (alpha alpha^T - K^-1) / 2
  weight = 0.5 * (tf.matmul(alpha, alpha, transpose_b=True) - inverse)
  weighted = weight * k
  grad = tf.stack([
      tf.reduce_sum(weighted * scaled),
      tf.reduce_sum(weighted),
      noise * tf.linalg.trace(weight)])
  return value, grad - shifted / 1.5


def main():
  rng = np.random.default_rng(4)
  theta = np.array([-0.5, 0.2, -2.5])
  value, grad = value_and_grad(tf.constant(theta))
  accepted, chain = 0, []
  for i in range(NUM_SAMPLES):
    momentum = rng.standard_normal(3)
    q, p, g = theta.copy(), momentum.copy(), grad
    for _ in range(LEAPFROG):
      p = p + 0.5 * STEP_SIZE * g.numpy()
      q = q + STEP_SIZE * p
      v, g = value_and_grad(tf.constant(q))
      p = p + 0.5 * STEP_SIZE * g.numpy()
    current = float(value) - 0.5 * momentum @ momentum
    proposed = float(v) - 0.5 * p @ p
    if np.log(rng.random()) < proposed - current:
      theta, value, grad = q, v, g
      accepted += 1
    chain.append(np.exp(theta))
    if (i + 1) % 11 == 0:
      print('sample %d  log posterior %.3f  accepted %d' % (
          i + 1, float(value), accepted))
  print('posterior mean', np.round(np.mean(chain[5:], axis=0), 4))


if __name__ == '__main__':
  main()
