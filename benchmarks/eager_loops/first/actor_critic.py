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


inp = keras.Input((8,))
h = layers.Dense(64, activation="tanh")(inp)
h = layers.Dense(64, activation="tanh")(h)
model = keras.Model(inp, [layers.Dense(4)(h), layers.Dense(1)(h)])
opt = keras.optimizers.Adam(3e-4)
batches = [(arr(128, 8), ints(4, 128), arr(128)) for _ in range(8)]


def step(s, a, R):
    with tf.GradientTape() as tape:
        logits, value = model(s)
        lp = tf.nn.log_softmax(logits)
        chosen = tf.gather(lp, a, batch_dims=1)
        adv = R - value[:, 0]
        ent = -tf.reduce_sum(tf.exp(lp) * lp, -1)
        loss = tf.reduce_mean(-chosen * tf.stop_gradient(adv) + 0.5 * adv**2 - 0.01 * ent)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(250):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
