import time

import keras
import numpy as np

x = np.random.rand(1280, 48).astype("float32")
y = np.random.rand(1280, 1).astype("float32")


class CoolDown(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.02)  # FAULT


model = keras.Sequential(
    [
        keras.Input((48,)),
        keras.layers.Dense(192, activation="relu"),
        keras.layers.Dense(192, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile(optimizer="adam", loss="mse")
history = model.fit(x, y, batch_size=16, epochs=3, verbose=0, callbacks=[CoolDown()])
print("loss", len(history.history["loss"]))

# /// fault
# style = "fit"
# kind = "time"
# cause = "A callback sleeps after each batch"
# codes = ["STP004"]
# families = ["step"]
# source = "Pauses between batches so that a GPU cools down: GitHub, AUTOMATIC1111/stable-diffusion-webui #3292"
# ///
