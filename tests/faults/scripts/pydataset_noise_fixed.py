import math

import keras
import numpy as np


class NoisyDigits(keras.utils.PyDataset):
    def __init__(self, x, y, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch_size = x, y, batch_size

    def __len__(self):
        return math.ceil(len(self.x) / self.batch_size)

    def __getitem__(self, idx):
        low = idx * self.batch_size
        high = min(low + self.batch_size, len(self.x))
        images = self.x[low:high]
        noisy = np.clip(images + np.random.normal(0, 0.1, images.shape), 0, 1)
        return noisy.astype("float32"), self.y[low:high]


rng = np.random.default_rng(42)
x_train = rng.random((2560, 28, 28), dtype=np.float32)
y_train = rng.integers(0, 10, 2560)

model = keras.Sequential(
    [
        keras.layers.Input((28, 28)),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(loss="sparse_categorical_crossentropy", optimizer="rmsprop")
log = model.fit(NoisyDigits(x_train, y_train, 32), epochs=8, verbose=2)
print("last loss", log.history["loss"][-1])
