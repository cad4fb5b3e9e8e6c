"""Firing rates of a population of Hodgkin-Huxley neurons under different input currents."""
import numpy as np
import tensorflow as tf

N = 300
DT = 0.01           # ms
T_END = 100.0       # ms
C_M, G_NA, G_K, G_L = 1.0, 120.0, 36.0, 0.3
E_NA, E_K, E_L = 50.0, -77.0, -54.387


def alpha_beta(v):
    a_m = 0.1 * (v + 40.0) / (1.0 - tf.exp(-(v + 40.0) / 10.0))
    b_m = 4.0 * tf.exp(-(v + 65.0) / 18.0)
    a_h = 0.07 * tf.exp(-(v + 65.0) / 20.0)
    b_h = 1.0 / (1.0 + tf.exp(-(v + 35.0) / 10.0))
    a_n = 0.01 * (v + 55.0) / (1.0 - tf.exp(-(v + 55.0) / 10.0))
    b_n = 0.125 * tf.exp(-(v + 65.0) / 80.0)
    return a_m, b_m, a_h, b_h, a_n, b_n


def step(v, m, h, n, current, spikes):
    a_m, b_m, a_h, b_h, a_n, b_n = alpha_beta(v)
    i_na = G_NA * m ** 3 * h * (v - E_NA)
    i_k = G_K * n ** 4 * (v - E_K)
    i_l = G_L * (v - E_L)
    v_new = v + DT * (current - i_na - i_k - i_l) / C_M
    m = m + DT * (a_m * (1.0 - m) - b_m * m)
    h = h + DT * (a_h * (1.0 - h) - b_h * h)
    n = n + DT * (a_n * (1.0 - n) - b_n * n)
    crossed = tf.logical_and(v < 0.0, v_new >= 0.0)
    spikes = spikes + tf.cast(crossed, tf.float64)
    return v_new, m, h, n, spikes


def initial_state():
    v = tf.fill([N], tf.constant(-65.0, tf.float64))
    a_m, b_m, a_h, b_h, a_n, b_n = alpha_beta(v)
    return (v, a_m / (a_m + b_m), a_h / (a_h + b_h), a_n / (a_n + b_n),
            tf.zeros([N], tf.float64))


@tf.function
def simulate(current):
    v, m, h, n, spikes = initial_state()
    for _ in tf.range(int(T_END / DT)):
        v, m, h, n, spikes = step(v, m, h, n, current, spikes)
    return v, spikes


def main():
    rng = np.random.default_rng(3)
    base = np.linspace(2.0, 20.0, N)
    current = tf.constant(base + 0.2 * rng.standard_normal(N), tf.float64)
    v, spikes = simulate(current)
    rate = spikes.numpy() / (T_END / 1000.0)
    for lo in range(0, N, 60):
        print(f"I ~ {base[lo]:5.2f} uA/cm2   rate {rate[lo:lo + 60].mean():6.2f} Hz")
    print("mean end potential", float(tf.reduce_mean(v)))


if __name__ == "__main__":
    main()
