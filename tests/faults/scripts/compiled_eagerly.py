import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def residual(x, units):
    skip = x
    x = layers.Dense(units, activation="relu")(x)
    x = layers.LayerNormalization()(x)
    return layers.Add()([x, skip])


inputs = keras.Input((48,))
x = inputs
for _ in range(4):
    x = residual(x, 48)
outputs = layers.Dense(3, activation="softmax")(x)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
    run_eagerly=True,  # FAULT
)

x = np.random.normal(size=(3200, 48)).astype("float32")
y = np.argmax(x[:, :3], axis=1)
history = model.fit(x, y, batch_size=32, epochs=1, verbose=2)  # FAULT
print("accuracy", history.history["accuracy"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "run_eagerly=True was left in compile()"
# codes = ["EAG003", "EAG001"]
# families = ["eager"]
# source = "GitHub, USGS-R/river-dl #109 (run_eagerly=True is about three times slower) and tensorflow/docs #938"
# renamed = true
# ///
