import math

import keras
import numpy as np


class NoisyDigits(keras.utils.PyDataset):
    def __init__(self, x, y, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch_size = x, y, batch_size

    def __len__(self):
        return math.ceil(len(self.x) / self.batch_size)

    def __getitem__(self, idx):  # FAULT
        low = idx * self.batch_size
        high = min(low + self.batch_size, len(self.x))
        batch = []
        for image in self.x[low:high]:
            noisy = []
            for row in image:  # FAULT
                noisy.append(np.clip(row + np.random.normal(0, 0.1, row.shape), 0, 1))  # FAULT
            batch.append(np.array(noisy))
        return np.array(batch, dtype="float32"), self.y[low:high]


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

# /// fault
# style = "fit"
# kind = "time"
# cause = "A PyDataset builds each batch pixel row by pixel row in Python while the model waits"
# codes = ["INP005", "LIN001"]
# families = ["input"]
# source = "GitHub, keras-team/keras #11727 'Strange behavior of Sequence' and #9531 (Sequence uses one core)"
# ///
