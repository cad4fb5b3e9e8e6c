import tempfile

import numpy as np
import tensorflow as tf

writer = tf.summary.create_file_writer(tempfile.mkdtemp())
features = np.random.rand(3200, 100).astype("float32")
targets = features.mean(axis=1, keepdims=True) ** 2
dataset = tf.data.Dataset.from_tensor_slices((features, targets)).batch(32).prefetch(2)

model = tf.keras.Sequential(
    [
        tf.keras.Input((100,)),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam()


@tf.function
def train_step(x, y, step):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    with writer.as_default():
        tf.summary.scalar("loss", loss, step=step)
        for v, g in zip(model.trainable_variables, grads):
            tf.summary.histogram(v.path, v, step=step)  # FAULT
            tf.summary.histogram(v.path + "/gradient", g, step=step)  # FAULT
    return loss


step = tf.Variable(0, dtype=tf.int64)
for epoch in range(8):
    for x, y in dataset:
        loss = train_step(x, y, step)
        step.assign_add(1)
    print("epoch", epoch, "loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "Histograms of all weights and gradients are written at every step"
# codes = ["STP001", "GRF002"]
# families = ["step", "graph"]
# source = "GitHub, sherjilozair/char-rnn-tensorflow #112 'the tensorboard summary is slow' and ibab/tensorflow-wavenet #116"
# ///
