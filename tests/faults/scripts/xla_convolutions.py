import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(1)
x_train = np.random.rand(640, 48, 48, 16).astype("float32")
y_train = np.random.randint(0, 6, 640)

model = keras.Sequential(
    [
        keras.Input((48, 48, 16)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.SeparableConv2D(32, 5, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(6, activation="softmax"),
    ]
)
model.compile(
    loss="sparse_categorical_crossentropy",
    optimizer="adam",
    metrics=["accuracy"],
    jit_compile=True,  # FAULT
)
history = model.fit(x_train, y_train, batch_size=16, epochs=2, verbose=2)  # FAULT
print("loss", history.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "jit_compile=True makes convolutions slower on this CPU"
# codes = ["CMP003"]
# families = ["compile"]
# source = "Stack Overflow questions on jit_compile=True being slower on a CPU; GitHub, tensorflow/tensorflow #59713"
# ///
