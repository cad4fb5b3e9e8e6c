"""Cooling of steel bars with temperature-dependent conductivity (implicit Euler, 1-D finite volumes)."""
import numpy as np
import tensorflow as tf

N = 420
LENGTH = 0.25
DX = LENGTH / N
RHO_C = 7800.0 * 490.0
T_AMBIENT = 298.15
SIGMA, EMISSIVITY, H_CONV = 5.67e-8, 0.8, 35.0


def conductivity(temp):
    return 60.0 - 0.025 * (temp - 273.15) + 4.0 * tf.exp(-((temp - 1008.0) / 60.0) ** 2)


def system(temp, dt):
    """Coefficients of the implicit system (sub-diagonal, diagonal, super-diagonal, rhs)."""
    k = conductivity(temp)
    k_face = 2.0 * k[1:] * k[:-1] / (k[1:] + k[:-1])
    a = dt * k_face / (RHO_C * DX ** 2)
    zero = tf.zeros([1], temp.dtype)
    lower = tf.concat([zero, -a], axis=0)
    upper = tf.concat([-a, zero], axis=0)
    surface = H_CONV + EMISSIVITY * SIGMA * (temp ** 2 + T_AMBIENT ** 2) * (temp + T_AMBIENT)
    ends = tf.one_hot(0, N, dtype=temp.dtype) + tf.one_hot(N - 1, N, dtype=temp.dtype)
    loss = dt * surface * ends / (RHO_C * DX)
    diag = 1.0 - lower - upper + loss
    rhs = temp + loss * T_AMBIENT
    return lower, diag, upper, rhs


@tf.function
def implicit_step(temp, dt):
    lower, diag, upper, rhs = system(temp, dt)
    return tf.linalg.tridiagonal_solve((upper, diag, lower), rhs, diagonals_format="sequence")


@tf.function
def integrate(temp, dt, steps):
    surface = tf.TensorArray(temp.dtype, size=steps)
    for i in tf.range(steps):
        temp = implicit_step(temp, dt)
        surface = surface.write(i, temp[0])
    return temp, surface.stack()


def main():
    x = (np.arange(N) + 0.5) * DX
    dt = tf.constant(1.0, tf.float64)
    for name, start in [("billet", 1473.15 + 0 * x),
                        ("hot core", 1073.15 + 250.0 * np.sin(np.pi * x / LENGTH))]:
        temp = tf.constant(start, tf.float64)
        for minute in range(0, 10, 5):
            temp, surface = integrate(temp, dt, tf.constant(300))
            print("%-8s t=%2d min  core %.4f K  surface %.4f K  mean %.4f K" % (
                name, minute + 5, temp[N // 2], surface[-1], tf.reduce_mean(temp)))


if __name__ == "__main__":
    main()
