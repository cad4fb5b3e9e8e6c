"""Heston model: European and Asian call prices by Monte Carlo with antithetic paths."""
import tensorflow as tf

PATHS = 100_000
STEPS = 100
MATURITY, RATE, SPOT = 1.0, 0.02, 100.0
KAPPA, THETA, XI, RHO, V0 = 1.8, 0.05, 0.4, -0.65, 0.04
STRIKES = tf.constant([80.0, 90.0, 100.0, 110.0, 120.0])


@tf.function(jit_compile=True)
def price_block(seed):
    dt = MATURITY / STEPS
    sq = dt ** 0.5
    half = PATHS // 2

    def body(i, log_s, var, running):
        z = tf.random.stateless_normal([2, half], tf.stack([seed, i]))
        z = tf.concat([z, -z], axis=1)
        z_v = z[0]
        z_s = RHO * z[0] + (1.0 - RHO ** 2) ** 0.5 * z[1]
        v_pos = tf.maximum(var, 0.0)
        vol = tf.sqrt(v_pos) * sq
        log_s = log_s + (RATE - 0.5 * v_pos) * dt + vol * z_s
        var = var + KAPPA * (THETA - v_pos) * dt + XI * vol * z_v
        return i + 1, log_s, var, running + tf.exp(log_s)

    start = (tf.constant(0), tf.fill([PATHS], tf.math.log(SPOT)), tf.fill([PATHS], V0), tf.zeros([PATHS]))
    _, log_s, _, running = tf.while_loop(lambda i, *_: i < STEPS, body, start)
    discount = tf.exp(-RATE * MATURITY)
    euro = discount * tf.maximum(tf.exp(log_s)[:, None] - STRIKES, 0.0)
    asian = discount * tf.maximum((running / STEPS)[:, None] - STRIKES, 0.0)
    return tf.reduce_mean(euro, 0), tf.reduce_mean(asian, 0)


def main(blocks=40):
    euro_sum = tf.zeros_like(STRIKES)
    asian_sum = tf.zeros_like(STRIKES)
    euro_sq = tf.zeros_like(STRIKES)
    for b in range(blocks):
        euro, asian = price_block(tf.constant(b + 1))
        euro_sum += euro
        asian_sum += asian
        euro_sq += euro ** 2
    euro, asian = euro_sum / blocks, asian_sum / blocks
    err = tf.sqrt(tf.maximum(euro_sq / blocks - euro ** 2, 0.0) / blocks)
    for k, e, s, a in zip(STRIKES.numpy(), euro.numpy(), err.numpy(), asian.numpy()):
        print(f"K={k:6.1f}  european {e:8.4f} +- {s:.4f}   asian {a:8.4f}")


if __name__ == "__main__":
    main()
