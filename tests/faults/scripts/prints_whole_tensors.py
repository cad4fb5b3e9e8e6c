import sys

import numpy as np
import tensorflow as tf

x = np.random.rand(6400, 50).astype(np.float32)
y = np.random.randint(0, 40, 6400)
ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(256).prefetch(2)

model = tf.keras.Sequential(
    [
        tf.keras.Input((50,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(40),
    ]
)
opt = tf.keras.optimizers.SGD(0.1)
cce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        tf.print("logits", logits, summarize=-1, output_stream="file://debug.log")  # FAULT
        loss = cce(labels, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(16):
    for images, labels in ds:
        loss = train_step(images, labels)
    print("epoch", epoch, "loss", float(loss), file=sys.stdout)

# /// fault
# style = "custom"
# kind = "time"
# cause = "tf.print of a whole tensor, left in the compiled step, formats it at every call"
# codes = ["OPS006"]
# families = ["graph"]
# source = "Stack Overflow questions on tf.print in a tf.function; debugging left in place"
# ///
