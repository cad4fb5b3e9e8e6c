import os

os.environ["TF_XLA_FLAGS"] = "--tf_xla_auto_jit=2"  # FAULT

import numpy as np
import tensorflow as tf

x = np.random.default_rng(0).normal(size=(200_000, 12)).astype("float32")
y = np.tanh(x[:, 0] * x[:, 1])[:, None].astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(2000, drop_remainder=True).cache().prefetch(2)

dense = [tf.keras.layers.Dense(n) for n in (128, 128, 1)]
optimizer = tf.keras.optimizers.Adam(1e-3)
for layer, width in zip(dense, (12, 128, 128)):
    layer.build((None, width))
variables = [v for layer in dense for v in layer.trainable_variables]


def mish(z):
    return z * tf.tanh(tf.math.softplus(z))


def network(z):
    for layer in dense[:-1]:
        z = mish(layer(z))
    return dense[-1](z)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.math.log(tf.math.cosh(network(features) - target)))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for epoch in range(4):
    for features, target in data:
        loss = train_step(features, target)
    print("epoch", epoch, float(loss))

# /// fault
# style = "custom"
# kind = "no effect"
# cause = "TF_XLA_FLAGS=--tf_xla_auto_jit=2 does nothing on a CPU without --tf_xla_cpu_global_jit"
# codes = ["CMP005", "CMP002"]
# families = ["compile"]
# source = "tensorflow.org guide on XLA, section on auto-clustering on a CPU; Stack Overflow questions on the flag"
# note = "the script runs as it would without the flag; with the second one XLA really takes part"
# ///
