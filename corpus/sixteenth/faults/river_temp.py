"""Stream temperature: a process-guided network with an energy-balance penalty."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(23)

DAYS, REACHES = 365, 40
DRIVERS = 9


def basin(seed):
    r = np.random.default_rng(seed)
    day = np.arange(DAYS)
    air = 10 + 9 * np.sin(2 * np.pi * (day - 100) / 365)[:, None] + r.normal(size=(DAYS, REACHES)) * 2
    sun = 180 + 120 * np.sin(2 * np.pi * (day - 80) / 365)[:, None] + r.normal(size=(DAYS, REACHES)) * 30
    flow = r.gamma(2, 2, (DAYS, REACHES))
    slope = np.repeat(r.uniform(0.1, 1, (1, REACHES)), DAYS, 0)
    rest = r.normal(size=(DAYS, REACHES, DRIVERS - 4))
    x = np.concatenate([np.stack([air, sun, flow, slope], -1), rest], -1)
    smooth = np.zeros_like(air)
    smooth[0] = air[0]
    for t in range(1, DAYS):
        smooth[t] = 0.8 * smooth[t - 1] + 0.2 * air[t] + 0.004 * (sun[t] - 180) / slope[t]
    temp = np.maximum(smooth - 0.1 * flow, 0)
    lag = np.concatenate([x[:-3], x[1:-2], x[2:-1]], -1)
    x_all = np.concatenate([lag, x[3:]], -1).reshape(-1, 4 * DRIVERS)
    return x_all.astype("float32"), temp[3:].reshape(-1, 1).astype("float32")


class GuidedModel(tf.keras.Model):
    """Supervised error + penalty for a wrong answer to warmer air + freezing penalty."""

    def __init__(self, mean, std, weight=0.3):
        super().__init__()
        self.shift = tf.constant(mean)
        self.scale = tf.constant(std)
        self.weight = weight
        self.body = [tf.keras.layers.Dense(n, activation="tanh") for n in (64, 64, 32)]
        self.head = tf.keras.layers.Dense(1)
        self.tracker = tf.keras.metrics.Mean(name="loss")
        self.rmse = tf.keras.metrics.RootMeanSquaredError(name="rmse")

    @property
    def metrics(self):
        return [self.tracker, self.rmse]

    def call(self, x):
        h = (x - self.shift) / self.scale
        for layer in self.body:
            h = layer(h)
        return self.head(h)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                temp = self(x, training=True)
            by_air = inner.gradient(temp, x)[:, 3 * DRIVERS]
            balance = tf.reduce_mean(tf.nn.relu(-by_air)) + tf.reduce_mean(tf.nn.relu(by_air - 1.0))
            frozen = tf.reduce_mean(tf.square(tf.nn.relu(-temp)))
            loss = tf.reduce_mean(tf.square(y - temp)) + self.weight * (balance + frozen)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        self.rmse.update_state(y, temp)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        temp = self(x, training=False)
        self.tracker.update_state(tf.reduce_mean(tf.square(y - temp)))
        self.rmse.update_state(y, temp)
        return {m.name: m.result() for m in self.metrics}


if __name__ == "__main__":
    x, y = basin(1)
    x_val, y_val = basin(2)
    model = GuidedModel(x.mean(0), x.std(0))
    model.compile(optimizer=tf.keras.optimizers.Adam(2e-3), run_eagerly=True)
    history = model.fit(x, y, batch_size=128, epochs=6, verbose=2,
                        validation_data=(x_val, y_val), validation_batch_size=2048)
    print("final val rmse %.3f" % history.history["val_rmse"][-1])
