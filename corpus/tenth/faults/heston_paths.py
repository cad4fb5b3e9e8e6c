"""Monte Carlo pricing of an Asian and a lookback call under the Heston model (TensorFlow)."""
import time
import tensorflow as tf

S0, V0, RATE = 100.0, 0.04, 0.02
KAPPA, THETA, XI, RHO = 1.5, 0.04, 0.3, -0.7
STRIKE = 100.0


class HestonSimulator:
    def __init__(self, n_paths, n_steps, maturity, seed=0):
        self.n_paths = n_paths
        self.n_steps = n_steps
        self.dt = maturity / n_steps
        self.gen = tf.random.Generator.from_seed(seed)

    def _shocks(self):
        z1 = self.gen.normal((self.n_paths,))
        z2 = self.gen.normal((self.n_paths,))
        return z1, RHO * z1 + (1.0 - RHO ** 2) ** 0.5 * z2

    @tf.function
    def _step(self, log_s, v):
        z_s, z_v = self._shocks()
        v_pos = tf.maximum(v, 0.0)
        vol = tf.sqrt(v_pos * self.dt)
        log_s = log_s + (RATE - 0.5 * v_pos) * self.dt + vol * z_s
        v = v + KAPPA * (THETA - v_pos) * self.dt + XI * vol * z_v
        return log_s, v

    def simulate(self):
        """Price paths of shape (n_steps + 1, n_paths)."""
        log_s = tf.fill((self.n_paths,), tf.math.log(S0))
        v = tf.fill((self.n_paths,), V0)
        paths = tf.exp(log_s)[None, :]
        for _ in range(self.n_steps):
            log_s, v = self._step(log_s, v)
            paths = tf.concat([paths, tf.exp(log_s)[None, :]], axis=0)
        return paths


def discounted_mean(payoff, maturity):
    value = tf.exp(-RATE * maturity) * tf.reduce_mean(payoff)
    err = tf.math.reduce_std(payoff) / tf.sqrt(tf.cast(tf.size(payoff), tf.float32))
    return float(value), float(err)


def asian_call(paths):
    return tf.maximum(tf.reduce_mean(paths[1:], axis=0) - STRIKE, 0.0)


def lookback_call(paths):
    return tf.maximum(tf.reduce_max(paths, axis=0) - STRIKE, 0.0)


def european_call(paths):
    return tf.maximum(paths[-1] - STRIKE, 0.0)


def main():
    maturity = 1.0
    n_paths, n_steps = 16000, 750
    print(f"{n_paths} paths x {n_steps} steps")
    products = {"european": european_call, "asian": asian_call, "lookback": lookback_call}
    totals = {name: [] for name in products}
    for batch in range(2):
        start = time.time()
        sim = HestonSimulator(n_paths, n_steps, maturity, seed=batch + 1)
        paths = sim.simulate()
        for name, payoff in products.items():
            totals[name].append(discounted_mean(payoff(paths), maturity))
        print(f"batch {batch + 1}: {time.time() - start:.1f}s "
              f"mean S_T {float(tf.reduce_mean(paths[-1])):.3f}")
    for name, rows in totals.items():
        price = sum(r[0] for r in rows) / len(rows)
        err = sum(r[1] ** 2 for r in rows) ** 0.5 / len(rows)
        print(f"{name:10s} {price:8.4f} +- {err:.4f}")


if __name__ == "__main__":
    main()
