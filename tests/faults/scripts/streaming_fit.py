import keras
import numpy as np

WINDOW = 24
signal = np.sin(np.arange(6000) / 9.0) + np.random.default_rng(0).normal(0, 0.05, 6000)


def windows(first, count):
    x = np.stack([signal[i : i + WINDOW] for i in range(first, first + count)])
    y = signal[first + WINDOW : first + WINDOW + count]
    return x[..., None].astype("float32"), y.astype("float32")


model = keras.Sequential(
    [
        keras.Input((WINDOW, 1)),
        keras.layers.Conv1D(8, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(1),
    ]
)
model.compile("adam", "mse")

losses = []
for first in range(0, 2400, 32):
    x, y = windows(first, 32)
    result = model.fit(x, y, epochs=1, verbose=0)  # FAULT
    losses.append(result.history["loss"][0])
print("first", losses[0], "last", losses[-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "fit() is called again for each small chunk of data"
# codes = ["EAG006", "EAG004", "STP002"]
# families = ["eager", "step"]
# source = "GitHub, keras-team/keras #13710 and #1712 (fit in a loop over small chunks)"
# renamed = true
# ///
