import numpy as np
import tensorflow as tf


class Autoencoder(tf.keras.Model):
    def __init__(self, size, code):
        super().__init__()
        self.encoder = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(512, activation="relu"),
                tf.keras.layers.Dense(code),
            ]
        )
        self.decoder = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(512, activation="relu"),
                tf.keras.layers.Dense(size, activation="sigmoid"),
            ]
        )

    def call(self, x):
        return self.decoder(self.encoder(x))


images = np.random.rand(10_000, 784).astype("float32")
data = tf.data.Dataset.from_tensor_slices((images, images)).shuffle(2000).batch(200).prefetch(tf.data.AUTOTUNE)
model = Autoencoder(784, 32)
model.compile(optimizer="adam", loss="mse")
history = model.fit(data, epochs=7, verbose=2)
print("mse", history.history["loss"][-1])

# /// healthy
# style = "subclassed"
# ///
