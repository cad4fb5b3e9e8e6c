# GAN on a ring of gaussians; critic kernels are kept at spectral norm one.
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()
tf.keras.utils.set_random_seed(0)
L = tf.keras.layers
BATCH, WIDTH, STEPS = 128, 384, 60


class SpectralDense(L.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer="orthogonal", name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")
        self.u = self.add_weight(shape=(1, self.units), initializer="random_normal", trainable=False, name="u")

    def sigma(self):
        return tf.stop_gradient(tf.linalg.svd(tf.convert_to_tensor(self.w), compute_uv=False)[0])

    def call(self, x):
        return tf.matmul(x, self.w / self.sigma()) + self.b


critic = tf.keras.Sequential([L.Input((2,)), L.Dense(WIDTH, activation="relu"), SpectralDense(WIDTH),
                              L.ReLU(), SpectralDense(WIDTH), L.ReLU(), L.Dense(1)])
gen = tf.keras.Sequential([L.Input((8,)), L.Dense(128, activation="relu"),
                           L.Dense(128, activation="relu"), L.Dense(2)])
d_opt, g_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.0), tf.keras.optimizers.Adam(2e-4, beta_1=0.0)


def ring(n):
    k = tf.cast(tf.random.uniform([n], maxval=8, dtype=tf.int32), tf.float32) * (np.pi / 4)
    return tf.stack([tf.cos(k), tf.sin(k)], 1) * 2 + tf.random.normal([n, 2], stddev=0.05)


@tf.function
def step():
    fake = gen(tf.random.normal([BATCH, 8]))
    both = tf.concat([ring(BATCH), fake], 0)
    with tf.GradientTape() as tape:
        s = critic(both, training=True)
        d_loss = tf.reduce_mean(tf.nn.relu(1 - s[:BATCH])) + tf.reduce_mean(tf.nn.relu(1 + s[BATCH:]))
    d_opt.apply_gradients(zip(tape.gradient(d_loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        g_loss = -tf.reduce_mean(critic(gen(tf.random.normal([BATCH, 8])), training=True))
    g_opt.apply_gradients(zip(tape.gradient(g_loss, gen.trainable_variables), gen.trainable_variables))
    return d_loss, g_loss


for i in range(STEPS):
    d, g = step()
    if i % 20 == 0:
        print("step", i, "critic %.3f generator %.3f" % (float(d), float(g)))
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
