import keras
import numpy as np

rng = np.random.default_rng(3)
x = rng.normal(size=(640, 40)).astype("float32")
y = (x[:, :3].sum(axis=1) > 0).astype("float32")
held_x = rng.normal(size=(20000, 40)).astype("float32")
held_y = (held_x[:, :3].sum(axis=1) > 0).astype("float32")

model = keras.Sequential(
    [
        keras.Input((40,)),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, batch_size=32, epochs=30, verbose=0, validation_data=(held_x, held_y))  # FAULT
print("accuracy", round(history.history["val_accuracy"][-1], 2))

# /// fault
# style = "fit"
# kind = "time"
# cause = "After each epoch of 20 batches the model is validated on 20 000 examples"
# codes = ["STP006"]
# families = ["step"]
# source = "GitHub, keras-team/keras #12065 (why validation_freq was added), #17328 and #6101"
# ///
