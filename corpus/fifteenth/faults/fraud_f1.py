"""Card fraud MLP; keeps the weights of the epoch with the best F1 on held-out data."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import callbacks, layers, models

rng = np.random.default_rng(2024)
N_FEATURES = 30
N_TRAIN, N_VAL = 12000, 120
EPOCHS = 2


def transactions(n):
    x = rng.normal(size=(n, N_FEATURES)).astype("float32")
    score = x[:, :5].sum(1) + 0.6 * x[:, 5] * x[:, 6]
    y = (score + rng.normal(scale=0.5, size=n) > 2.6).astype("float32")
    return x, y


class BestF1(callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y
        self.best, self.best_weights = -1.0, None

    def score(self, prob):
        pred = (prob > 0.5).astype("float32")
        tp = float(np.sum(pred * self.y))
        fp = float(np.sum(pred * (1 - self.y)))
        fn = float(np.sum((1 - pred) * self.y))
        return 2 * tp / max(2 * tp + fp + fn, 1.0)

    def on_epoch_end(self, epoch, logs=None):
        probs = []
        for row in self.x:
            probs.append(self.model.predict(row[np.newaxis], verbose=0)[0, 0])
        f1 = self.score(np.asarray(probs))
        print(f" - val_f1: {f1:.4f}")
        if f1 > self.best:
            self.best, self.best_weights = f1, self.model.get_weights()

    def on_train_end(self, logs=None):
        self.model.set_weights(self.best_weights)


def build():
    return models.Sequential(
        [
            layers.Input((N_FEATURES,)),
            layers.Dense(128, activation="relu"),
            layers.BatchNormalization(),
            layers.Dropout(0.2),
            layers.Dense(64, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )


tf.keras.utils.set_random_seed(1)
x_train, y_train = transactions(N_TRAIN)
x_val, y_val = transactions(N_VAL)

model = build()
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["AUC"])
pos = float(y_train.mean())
keeper = BestF1(x_val, y_val)
model.fit(
    x_train,
    y_train,
    batch_size=128,
    epochs=EPOCHS,
    class_weight={0: 1.0, 1: (1 - pos) / pos},
    callbacks=[keeper],
    verbose=2,
)
print("best F1 %.4f" % keeper.best)
