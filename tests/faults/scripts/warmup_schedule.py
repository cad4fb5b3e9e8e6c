import math

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential(
    [
        tf.keras.Input((25,)),
        tf.keras.layers.Dense(50, activation="gelu"),
        tf.keras.layers.Dense(50, activation="gelu"),
        tf.keras.layers.Dense(5),
    ]
)
x = tf.random.stateless_normal((2048, 25), seed=(1, 2))
y = tf.argmax(x[:, :5], axis=1)
batches = tf.data.Dataset.from_tensor_slices((x, y)).repeat().shuffle(2048).batch(64)


def schedule(step, warmup=30, total=90):
    if step < warmup:
        return 0.1 * step / warmup
    return 0.05 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))


@tf.function
def train_step(features, labels, learning_rate):  # FAULT
    with tf.GradientTape() as tape:
        logits = model(features, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    for g, v in zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables):
        v.assign_sub(learning_rate * g)
    return loss


history = []
for step, (features, labels) in enumerate(batches.take(90)):
    loss = train_step(features, labels, schedule(step))  # FAULT
    history.append(float(loss))
print("mean of the last ten", np.mean(history[-10:]))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The learning rate goes into the tf.function as a Python number that changes"
# codes = ["RET001"]
# families = ["retrace"]
# source = "tensorflow.org guide 'Better performance with tf.function', section on Python arguments; GitHub, tensorflow/tensorflow #41347"
# ///
