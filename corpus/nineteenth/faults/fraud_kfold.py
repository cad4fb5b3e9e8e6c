"""Stepwise fine-tuning of a tabular network with frozen and unfrozen phases."""
import numpy as np
import tensorflow as tf
from tensorflow import keras


def transactions(n, seed):
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(3, 1, n)
    hour = rng.integers(0, 24, n)
    rest = rng.normal(size=(n, 18))
    risk = 0.8 * rest[:, 0] - 0.5 * rest[:, 1] * rest[:, 2] + 0.3 * (hour < 5)
    y = (risk + 0.3 * rng.normal(size=n) > 0.7).astype("float32")
    x = np.column_stack([np.log(amount), hour / 24, rest]).astype("float32")
    return x, y


def block(x, units, name):
    h = keras.layers.Dense(units, use_bias=False, name=name + "_dense")(x)
    h = keras.layers.LayerNormalization(name=name + "_ln")(h)
    h = keras.layers.Activation("gelu", name=name + "_act")(h)
    gate = keras.layers.Dense(units, activation="sigmoid", name=name + "_gate")(x)
    return keras.layers.Multiply(name=name + "_mul")([h, gate])


def build(dim):
    inputs = keras.Input((dim,))
    x = inputs
    for i in range(4):
        x = block(x, 32, f"block{i}")
    return keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(x))


class StepSchedule:
    def __init__(self, base, drop, every):
        self.base, self.drop, self.every = base, drop, every

    def __call__(self, epoch):
        return float(self.base * self.drop ** (epoch // self.every))


class Trainer:
    def __init__(self, model, schedule, batch_size=256):
        self.model = model
        self.schedule = schedule
        self.batch_size = batch_size
        self.optimizer_cls = keras.optimizers.SGD
        self.log = []

    def setup(self, lr):
        self.model.compile(
            optimizer=self.optimizer_cls(lr),
            loss="binary_crossentropy",
            metrics=["accuracy"],
        )

    def run(self, train, val, epochs):
        for epoch in range(epochs):
            lr = self.schedule(epoch)
            self.setup(lr)
            hist = self.model.fit(
                *train, batch_size=self.batch_size, epochs=1, shuffle=False, verbose=0
            )
            _, acc = self.model.evaluate(*val, batch_size=self.batch_size, verbose=0)
            self.log.append((epoch, lr, hist.history["loss"][0], acc))
        return self.log


def main():
    keras.utils.set_random_seed(123)
    train, val = transactions(4096, 1), transactions(1024, 2)
    trainer = Trainer(build(train[0].shape[1]), StepSchedule(0.2, 0.7, 3))
    log = trainer.run(train, val, epochs=6)
    for epoch, lr, loss, acc in log[::2]:
        print("epoch %d lr %.4f loss %.3f val acc %.2f" % (epoch, lr, loss, acc))


if __name__ == "__main__":
    main()
