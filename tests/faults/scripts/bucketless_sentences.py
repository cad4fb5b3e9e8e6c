import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(12)
sentences = [rng.integers(1, 300, rng.integers(8, 90)).tolist() for _ in range(1600)]
stars = rng.integers(0, 2, 1600).astype("float32")

model = tf.keras.Sequential(
    [
        layers.Embedding(300, 24),
        layers.Bidirectional(layers.GRU(16)),
        layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam()
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def pad(batch):
    return tf.keras.utils.pad_sequences(batch, padding="post")


@tf.function
def step(tokens, target):  # FAULT
    with tf.GradientTape() as tape:
        loss = bce(target[:, None], model(tokens, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(2):
    for low in range(0, 1600, 32):
        tokens = pad(sentences[low : low + 32])
        loss = step(tf.constant(tokens), tf.constant(stars[low : low + 32]))  # FAULT
    print("epoch", epoch, "loss", float(loss))

# /// fault
# style = "text"
# kind = "time"
# cause = "Each batch is padded to its own longest sentence, and every length is a new trace"
# codes = ["RET003"]
# families = ["retrace"]
# source = "GitHub, tensorflow/tensorflow #38561 'Unwanted tf.function retracing when using variable-length inputs' and #49151"
# ///
