# # MNIST-like digits with a watch on the weights
# (exported from a notebook)

# +
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(8)
# -

# ## Data

# +
rng = np.random.default_rng(8)
templates = rng.random((10, 28, 28)) > 0.7
y_train = rng.integers(0, 10, 2400)
x_train = (templates[y_train] + rng.normal(0, 0.6, (2400, 28, 28))).astype("float32")
# -

# ## How far do the layers drift from where they started?

# +
class DriftWatch(tf.keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.start = [w.numpy().copy() for w in self.model.weights]
        self.drift = []

    def on_train_batch_end(self, batch, logs=None):
        row = []
        for w0, w in zip(self.start, self.model.get_weights()):
            if w.ndim == 2:
                row.append(np.linalg.norm(w - w0, 2) / np.linalg.norm(w0, 2))
        self.drift.append(row)
# -

# ## Model

# +
model = tf.keras.models.Sequential([
    tf.keras.layers.Input((28, 28)),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(128, activation="relu"),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(10),
])
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss_fn, metrics=["accuracy"])
watch = DriftWatch()
model.fit(x_train, y_train, epochs=3, batch_size=128, callbacks=[watch], verbose=2)
# -

# +
print("last drift", np.round(watch.drift[-1], 3))
# -
