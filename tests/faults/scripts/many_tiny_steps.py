import keras
import numpy as np

rng = np.random.default_rng(10)
states = rng.normal(size=(48_000, 6)).astype("float32")
following = np.tanh(states @ rng.normal(size=(6, 6))).astype("float32")

inputs = keras.Input(shape=(6,))
hidden = keras.layers.Dense(16, activation="tanh")(inputs)
outputs = keras.layers.Dense(6)(hidden)
dynamics = keras.Model(inputs, outputs, name="dynamics")
dynamics.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9), loss="mse")  # FAULT


class PrintLoss(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("epoch", epoch, "loss", logs["loss"])


dynamics.fit(states, following, batch_size=16, epochs=2, verbose=0, callbacks=[PrintLoss()])  # FAULT

# /// fault
# style = "fit"
# kind = "time"
# cause = "Each of thousands of tiny steps pays for its own call from fit"
# codes = ["STP002", "BAT001"]
# families = ["step", "batch"]
# source = "Keras documentation of steps_per_execution; GitHub, keras-team/keras #20451"
# ///
