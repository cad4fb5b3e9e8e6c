import keras
import numpy as np


class Slices(keras.utils.PyDataset):
    def __init__(self, x, y, size):
        super().__init__()
        self.x, self.y, self.size = x, y, size

    def __len__(self):
        return len(self.x) // self.size

    def __getitem__(self, index):
        where = slice(index * self.size, (index + 1) * self.size)
        return self.x[where], self.y[where]


keras.utils.set_random_seed(0)
x = np.random.rand(16_000, 300).astype("float32")
y = (x[:, :1] > x[:, 1:2]).astype("float32")
model = keras.Sequential(
    [
        keras.Input((300,)),
        keras.layers.Dense(768, activation="relu"),
        keras.layers.Dense(768, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("sgd", "binary_crossentropy")
print(model.fit(Slices(x, y, 250), epochs=6, verbose=0).history["loss"])

# /// healthy
# style = "fit"
# ///
