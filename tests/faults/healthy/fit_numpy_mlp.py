import numpy as np
from tensorflow import keras

rng = np.random.default_rng(0)
x = rng.random((12_800, 784), dtype=np.float32)
y = rng.integers(0, 10, 12_800)

model = keras.Sequential(
    [
        keras.Input((784,)),
        keras.layers.Dense(512, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(256, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, batch_size=256, epochs=8, validation_split=0.1, verbose=2)
print("loss", history.history["loss"][-1])

# /// healthy
# style = "fit"
# ///
