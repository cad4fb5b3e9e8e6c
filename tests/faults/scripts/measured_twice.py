"""A callback prints how well the model does on the training data after each epoch."""

import keras
import numpy as np

rng = np.random.default_rng(9)
x = rng.normal(size=(24_000, 64)).astype("float32")
y = (x[:, :5].sum(axis=1) > 0).astype("float32")
held_x, held_y = x[:500] + 0.1, y[:500]


class Scores(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        loss, accuracy = self.model.evaluate(x, y, batch_size=256, verbose=0)  # FAULT
        print(f"epoch {epoch}: training accuracy {accuracy:.2f}, held out {logs['val_accuracy']:.2f}")


hidden = [keras.layers.Dense(512, activation="relu") for _ in range(4)]
model = keras.Sequential([keras.Input((64,)), *hidden, keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=256, epochs=8, verbose=0, validation_data=(held_x, held_y), callbacks=[Scores()])

# /// fault
# style = "fit"
# kind = "time"
# cause = "After each epoch evaluate goes through the training data again, whose loss and metrics fit has just told"
# codes = ["STP011", "STP001"]
# families = ["step"]
# source = "callbacks in public notebooks that print training scores; questions on why a callback makes each epoch take twice as long"
# ///
