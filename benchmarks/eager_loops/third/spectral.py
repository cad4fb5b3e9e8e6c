import keras
import numpy as np
import tensorflow as tf
from keras import layers

rng = np.random.default_rng(0)
tf.random.set_seed(0)


def arr(*s):
    return tf.constant(rng.normal(size=s).astype("float32"))


def ints(n, *s):
    return tf.constant(rng.integers(0, n, size=s))


conv = keras.Sequential(
    [
        layers.Input((64, 9)),
        layers.Conv1D(32, 5, activation="relu"),
        layers.Conv1D(32, 5, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(3),
    ]
)
opt = keras.optimizers.RMSprop(1e-3)
batches = [(arr(32, 256), ints(3, 32)) for _ in range(4)]


def step(w, y):
    with tf.GradientTape() as tape:
        f = tf.abs(tf.signal.stft(w, 16, 3, pad_end=True))[:, :64, :9]
        p = conv(tf.math.log(f + 1e-3), training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, p))
    opt.apply_gradients(zip(tape.gradient(loss, conv.trainable_variables), conv.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(70):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
