import numpy as np
import tensorflow as tf
from tensorflow import keras


def customers(n, seed):
    rng = np.random.default_rng(seed)
    history = rng.normal(size=(n, 60, 8)).astype("float32")
    history[:, :, 0] += np.cumsum(rng.normal(0, 0.05, (n, 60)), axis=1)
    trend = history[:, -15:, 0].mean(1) - 0.4 * history[:, -30:, 1].mean(1)
    y = (trend + rng.normal(0, 0.05, n) > 0).astype("float32")
    return history, y


class ValidationReport(keras.callbacks.Callback):
    """Loss, lift and calibration on held out customers after each epoch."""

    def __init__(self, x, y, bins=10, batch_size=64):
        super().__init__()
        self.x, self.y = x, y
        self.bins = bins
        self.batch_size = batch_size
        self.rows = []

    def lift(self, scores, share=0.1):
        top = np.argsort(-scores, kind="stable")[: int(share * len(scores))]
        return self.y[top].mean() / self.y.mean()

    def calibration(self, scores):
        edges = np.linspace(0, 1, self.bins + 1)
        which = np.clip(np.digitize(scores, edges) - 1, 0, self.bins - 1)
        gap = 0.0
        for b in range(self.bins):
            inside = which == b
            if inside.any():
                gap += inside.mean() * abs(scores[inside].mean() - self.y[inside].mean())
        return gap

    def on_epoch_end(self, epoch, logs=None):
        loss, acc = self.model.evaluate(
            self.x, self.y, batch_size=self.batch_size, verbose=0
        )
        scores = self.model.predict(self.x, batch_size=self.batch_size, verbose=0)[:, 0]
        self.rows.append(
            {
                "epoch": epoch,
                "loss": loss,
                "accuracy": acc,
                "lift": self.lift(scores),
                "calibration": self.calibration(scores),
            }
        )


def network(steps, channels):
    inputs = keras.Input((steps, channels))
    x = keras.layers.Conv1D(64, 7, padding="same", activation="relu")(inputs)
    for _ in range(2):
        y = keras.layers.Conv1D(64, 5, padding="same", activation="relu")(x)
        x = keras.layers.Add()([x, y])
    x = keras.layers.GlobalAveragePooling1D()(x)
    out = keras.layers.Dense(1, activation="sigmoid")(x)
    model = keras.Model(inputs, out)
    model.compile(keras.optimizers.Adam(2e-3), "binary_crossentropy", metrics=["accuracy"])
    return model


if __name__ == "__main__":
    keras.utils.set_random_seed(64)
    x, y = customers(256, 1)
    holdout = customers(13000, 2)
    report = ValidationReport(*holdout)
    network(60, 8).fit(x, y, epochs=3, batch_size=64, verbose=0, callbacks=[report])
    for row in report.rows:
        print(
            "%d loss %.3f acc %.2f lift %.2f calibration %.3f"
            % tuple(row[k] for k in ("epoch", "loss", "accuracy", "lift", "calibration"))
        )
