import numpy as np
from tensorflow import keras

rng = np.random.default_rng(44)
X = rng.normal(size=(40_000, 30)).astype("float32")
y = (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.4).astype("float32")

model = keras.Sequential(
    [
        keras.Input((30,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer="adam",
    loss="binary_crossentropy",
    metrics=["accuracy"],
)
history = model.fit(X, y, batch_size=512, epochs=4, verbose=2)
print("loss", history.history["loss"][-1])
