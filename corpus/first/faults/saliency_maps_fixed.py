import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(5)
L = tf.keras.layers

net = tf.keras.Sequential([
    L.Input((32, 32, 3)),
    L.Conv2D(8, 3, activation="relu", padding="same"),
    L.MaxPool2D(),
    L.Conv2D(16, 3, activation="relu", padding="same"),
    L.MaxPool2D(),
    L.Flatten(),
    L.Dense(10),
])

pictures = np.random.default_rng(0).random((640, 32, 32, 3), dtype=np.float32)


@tf.function
def saliency(x):
    # gradient of the winning logit with respect to the pixels
    with tf.GradientTape() as tape:
        tape.watch(x)
        logits = net(x, training=False)
        top = tf.reduce_max(logits, axis=1)
    g = tape.gradient(top, x)
    g = tf.reduce_max(tf.abs(g), axis=-1)
    return g / tf.reduce_max(g, axis=(1, 2), keepdims=True)


maps = []
for i in range(0, len(pictures), 100):
    maps.append(saliency(tf.constant(pictures[i:i + 100])).numpy())
maps = np.concatenate(maps)

print("maps", maps.shape, "mean brightness %.5f" % maps.mean())
