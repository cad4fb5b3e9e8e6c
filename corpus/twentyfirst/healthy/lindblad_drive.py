"""Driven, dephasing chaotic system: density matrix propagation in double precision.

The Hamiltonian and the drive are drawn from the Gaussian unitary ensemble.  The
drive is time dependent, so the generator is rebuilt at every stage of the
Runge-Kutta step.  Trace and purity are logged against the conservation checks
of the notebook, which need complex128.
"""
import numpy as np
import tensorflow as tf

DIM = 768
DT = 0.02
N_STEPS = 18
GAMMA = 0.4
DTYPE = tf.complex128


def gue(rng):
  a = rng.standard_normal((DIM, DIM)) + 1j * rng.standard_normal((DIM, DIM))
  return (a + a.conj().T) / (2. * np.sqrt(DIM))


def build_operators():
  rng = np.random.default_rng(21)
  static, drive = gue(rng), gue(rng)
  # pure dephasing: element-wise decay of the coherences
  levels = rng.uniform(-1., 1., DIM)
  decay = -0.5 * GAMMA * (levels[:, None] - levels[None, :]) ** 2
  to = lambda m: tf.constant(m, dtype=DTYPE)
  return to(2. * static), to(drive), to(decay), levels


STATIC, DRIVE, DECAY, LEVELS = build_operators()


def hamiltonian(t):
  return STATIC + tf.cast(1.4 * np.sin(3.1 * t) + 0.4, DTYPE) * DRIVE


def lindblad(rho, h):
  # rho is Hermitian: rho @ h is the adjoint of h @ rho.
  hr = tf.matmul(h, rho)
  return -1j * (hr - tf.linalg.adjoint(hr)) + DECAY * rho


def rk4_step(rho, t, dt):
  h0, h1, h2 = hamiltonian(t), hamiltonian(t + dt / 2), hamiltonian(t + dt)
  k1 = lindblad(rho, h0)
  k2 = lindblad(rho + dt / 2 * k1, h1)
  k3 = lindblad(rho + dt / 2 * k2, h1)
  k4 = lindblad(rho + dt * k3, h2)
  return rho + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def main():
  psi = np.zeros(DIM)
  psi[:4] = 0.5
  rho = tf.constant(np.outer(psi, psi), dtype=DTYPE)
  trace_error = []
  for n in range(N_STEPS):
    rho = rk4_step(rho, n * DT, DT)
    trace = tf.math.real(tf.linalg.trace(rho)).numpy()
    trace_error.append(abs(trace - 1.))
    if (n + 1) % 6 == 0:
      populations = np.real(np.diag(rho.numpy()))
      purity = float(tf.reduce_sum(tf.abs(rho) ** 2))
      print('t %.2f  purity %.6f  <level> %.5f  p_0 %.5f' % (
          (n + 1) * DT, purity, LEVELS @ populations, populations[0]))
  assert max(trace_error) < 1e-10
  print('max trace error %.1e' % max(trace_error))


if __name__ == '__main__':
  main()
