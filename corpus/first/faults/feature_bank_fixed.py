"""Build a bank of patch features for an anomaly detector."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(17)


def backbone():
    inp = tf.keras.Input((64, 64, 3))
    x = tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu")(inp)
    x = tf.keras.layers.Conv2D(64, 3, strides=2, activation="relu")(x)
    return tf.keras.Model(inp, x)


extractor = backbone()
extract = tf.function(lambda x: tf.reshape(extractor(x, training=False), [-1, 64]))

batches = tf.data.Dataset.from_tensor_slices(
    np.random.default_rng(1).random((1600, 64, 64, 3), dtype=np.float32)
).batch(2)

parts = []
for images in batches:
    parts.append(extract(images))
bank = tf.concat(parts, axis=0)

centre = tf.reduce_mean(bank, axis=0)
radius = tf.reduce_mean(tf.norm(bank - centre, axis=1))
print("bank", bank.shape, "radius %.5f" % float(radius))
