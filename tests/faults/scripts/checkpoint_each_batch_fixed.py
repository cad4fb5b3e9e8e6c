import os
import tempfile

import keras
import numpy as np

folder = tempfile.mkdtemp()
x = np.random.rand(1600, 60).astype("float32")
y = np.random.rand(1600, 1).astype("float32")

model = keras.Sequential(
    [
        keras.Input((60,)),
        keras.layers.Dense(300, activation="relu"),
        keras.layers.Dense(300, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer="adam", loss="mae")
checkpoint = keras.callbacks.ModelCheckpoint(
    os.path.join(folder, "last.weights.h5"),
    save_weights_only=True,
    save_freq="epoch",
)
history = model.fit(x, y, batch_size=16, epochs=2, verbose=0, callbacks=[checkpoint])
print("mae", history.history["loss"])
