import keras
import numpy as np

x = np.random.rand(1280, 48).astype("float32")
y = np.random.rand(1280, 1).astype("float32")

model = keras.Sequential(
    [
        keras.Input((48,)),
        keras.layers.Dense(192, activation="relu"),
        keras.layers.Dense(192, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer="adam", loss="mse")
history = model.fit(x, y, batch_size=16, epochs=3, verbose=0)
print("loss", len(history.history["loss"]))
