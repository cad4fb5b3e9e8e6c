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
checkpoint = keras.callbacks.ModelCheckpoint(  # FAULT
    os.path.join(folder, "last.weights.h5"),
    save_weights_only=True,
    save_freq=1,  # FAULT
)
history = model.fit(x, y, batch_size=16, epochs=2, verbose=0, callbacks=[checkpoint])  # FAULT
print("mae", history.history["loss"])

# /// fault
# style = "fit"
# kind = "time"
# cause = "The weights are saved after every few batches"
# codes = ["STP001", "LIN001"]
# families = ["step"]
# source = "GitHub, tensorflow/tensorflow #37876 'Method (on_train_batch_end) is slow compared to the batch update'; Stack Overflow questions on save_freq"
# renamed = true
# ///
