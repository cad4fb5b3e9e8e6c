import numpy as np
import tensorflow as tf
from tensorflow import keras

np.random.seed(0)
N_ROWS, N_FEATURES = 20000, 40
clicks = np.random.rand(N_ROWS, N_FEATURES).astype("float32")
bought = (clicks[:, :5].sum(axis=1) > 2.5).astype("float32")


def rows():
    order = np.random.permutation(N_ROWS)
    for i in order:
        yield clicks[i], bought[i]


dataset = tf.data.Dataset.from_generator(  # FAULT
    rows,
    output_signature=(
        tf.TensorSpec((N_FEATURES,), tf.float32),
        tf.TensorSpec((), tf.float32),
    ),
)
dataset = dataset.batch(128).prefetch(tf.data.AUTOTUNE)

model = keras.Sequential(
    [
        keras.layers.Input((N_FEATURES,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(dataset, epochs=2, verbose=2)
print(history.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "Dataset.from_generator yields one row at a time from Python"
# codes = ["INP005"]
# families = ["input"]
# source = "GitHub, tensorflow/tensorflow #56258 'Dataset from generator is far slower than from tensor slices'"
# ///
