import numpy as np
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision

mixed_precision.set_global_policy("mixed_float16")  # FAULT

inputs = keras.Input((20, 20, 3))
x = layers.Conv2D(8, 3, activation="relu")(inputs)  # FAULT
x = layers.MaxPooling2D()(x)
x = layers.Flatten()(x)
x = layers.Dense(64, activation="relu")(x)  # FAULT
outputs = layers.Dense(10, activation="softmax", dtype="float32")(x)
model = keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

rng = np.random.default_rng(1)
images = rng.random((1600, 20, 20, 3), dtype=np.float32)
labels = rng.integers(0, 10, 1600)
history = model.fit(images, labels, batch_size=32, epochs=3, verbose=2)  # FAULT
print("loss", history.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "mixed_float16 on a processor without float16 arithmetic"
# codes = ["PRC003"]
# families = ["precision"]
# source = "GitHub, tensorflow/tensorflow #45441 'mixed_precision make train and predict very slow when only using cpu'"
# renamed = true
# ///
