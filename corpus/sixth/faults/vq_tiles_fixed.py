"""A vector-quantised autoencoder of map tiles."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class VectorQuantizer(layers.Layer):
    def __init__(self, num_embeddings, embedding_dim, beta=0.25, **kwargs):
        super().__init__(**kwargs)
        self.beta = beta
        self.embeddings = self.add_weight(
            shape=(num_embeddings, embedding_dim), initializer="random_uniform", name="codes"
        )

    def call(self, x):
        flat = tf.reshape(x, (-1, self.embeddings.shape[1]))
        distances = tf.reduce_sum(self.embeddings**2, axis=1) - 2 * tf.matmul(flat, self.embeddings, transpose_b=True)
        codes = tf.argmin(distances, axis=1)
        quantized = tf.reshape(tf.gather(self.embeddings, codes), tf.shape(x))
        self.add_loss(self.beta * tf.reduce_mean((tf.stop_gradient(quantized) - x) ** 2))
        self.add_loss(tf.reduce_mean((quantized - tf.stop_gradient(x)) ** 2))
        return x + tf.stop_gradient(quantized - x)


def vqvae(codes=512, dim=32):
    inputs = keras.Input((32, 32, 3))
    x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(inputs)
    x = layers.Conv2D(dim, 3, strides=2, padding="same")(x)
    x = VectorQuantizer(codes, dim)(x)
    x = layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2DTranspose(3, 3, strides=2, padding="same")(x)
    return keras.Model(inputs, x)


tiles = np.random.default_rng(0).random((1600, 32, 32, 3), dtype="float32")
model = vqvae()
model.compile(optimizer="adam", loss="mse")
model.fit(tiles, tiles, batch_size=32, epochs=6, verbose=2)
