"""Find the cut-off that costs the bank least, on a held-out year of payments."""
import argparse

import numpy as np
import tensorflow as tf


def payments(count, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 32)).astype("float32")
    y = (x[:, :3].sum(1) + rng.normal(size=count) > 3.2).astype("int32")
    return x, y, rng.lognormal(3.0, 1.0, count).astype("float32")


def fraud_model():
    model = tf.keras.Sequential([
        tf.keras.layers.Input((32,)),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy")
    return model


class CostReport:
    """What missed fraud and needless calls cost at a cut-off."""

    def __init__(self, model, x, y, amount, call_cost=4.0):
        self.model, self.x, self.y, self.amount = model, x, y, amount
        self.call_cost = call_cost
        self.chance = self.model.predict(self.x, batch_size=4096, verbose=0)[:, 0]

    def flags(self, cutoff):
        return self.chance >= cutoff

    def missed(self, cutoff):
        return float(self.amount[(self.y == 1) & ~self.flags(cutoff)].sum())

    def calls(self, cutoff):
        return self.call_cost * int((self.flags(cutoff) & (self.y == 0)).sum())

    def total(self, cutoff):
        return self.missed(cutoff) + self.calls(cutoff)


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--cutoffs", type=int, default=25)
    opts = parser.parse_args(argv)
    tf.keras.utils.set_random_seed(3)
    x, y, amount = payments(120000, 3)
    model = fraud_model()
    model.fit(x[:30000], y[:30000], batch_size=512, epochs=1, verbose=0)
    report = CostReport(model, x[30000:], y[30000:], amount[30000:])
    cutoffs = np.linspace(0.02, 0.98, opts.cutoffs)
    costs = [report.total(c) for c in cutoffs]
    best = int(np.argmin(costs))
    print(f"cheapest cut-off {cutoffs[best]:.2f}: {costs[best]:.0f}")


if __name__ == "__main__":
    main()
