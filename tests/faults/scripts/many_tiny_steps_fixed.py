import keras
import numpy as np

rng = np.random.default_rng(10)
states = rng.normal(size=(48_000, 6)).astype("float32")
following = np.tanh(states @ rng.normal(size=(6, 6))).astype("float32")

inputs = keras.Input(shape=(6,))
hidden = keras.layers.Dense(16, activation="tanh")(inputs)
outputs = keras.layers.Dense(6)(hidden)
dynamics = keras.Model(inputs, outputs, name="dynamics")
dynamics.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9), loss="mse", steps_per_execution=100)


class PrintLoss(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("epoch", epoch, "loss", logs["loss"])


dynamics.fit(states, following, batch_size=16, epochs=2, verbose=0, callbacks=[PrintLoss()])
