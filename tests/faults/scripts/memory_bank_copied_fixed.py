"""Instance discrimination: each picture differs from all others in a bank of their features, kept in a variable."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

PICTURES, FEATURES, BATCH, NEGATIVES = 120_000, 128, 64, 256

encoder = keras.Sequential(
    [
        keras.Input((24, 24, 1)),
        keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(FEATURES),
        keras.layers.UnitNormalization(),
    ]
)
optimizer = keras.optimizers.SGD(0.03, momentum=0.9)
bank = tf.Variable(tf.math.l2_normalize(tf.random.normal((PICTURES, FEATURES)), 1), trainable=False)


@tf.function
def train_step(pictures, numbers):
    others = tf.random.uniform((NEGATIVES,), 0, PICTURES, tf.int32)
    with tf.GradientTape() as tape:
        features = encoder(pictures, training=True)
        own = tf.reduce_sum(features * tf.gather(bank, numbers), 1, keepdims=True)
        logits = tf.concat([own, tf.matmul(features, tf.gather(bank, others), transpose_b=True)], 1) / 0.07
        labels = tf.zeros(BATCH, tf.int32)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    weights = encoder.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    mixed = tf.math.l2_normalize(0.5 * tf.gather(bank, numbers) + 0.5 * tf.stop_gradient(features), 1)
    bank.scatter_nd_update(numbers[:, None], mixed)
    return loss


rng = np.random.default_rng(0)
pictures = rng.random((4096, 24, 24, 1), dtype=np.float32)
for step in range(160):
    numbers = rng.integers(0, len(pictures), BATCH).astype("int32")
    loss = train_step(tf.constant(pictures[numbers]), tf.constant(numbers))
    if step % 40 == 0:
        print(f"step {step}: loss {float(loss):.3f}")
