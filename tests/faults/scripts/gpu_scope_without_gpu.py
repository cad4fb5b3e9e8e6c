import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(8192, 64)).astype(np.float32)
y = (x[:, :1] > 0).astype(np.float32)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8192).batch(128).prefetch(2)

model = tf.keras.Sequential(
    [
        tf.keras.Input((64,)),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam()
loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(features, labels):
    with tf.device("/GPU:0"):  # FAULT
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, model(features, training=True))  # FAULT
        gradients = tape.gradient(loss, model.trainable_variables)  # FAULT
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(12):
    for features, labels in dataset:
        loss = train_step(features, labels)
print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "no effect"
# cause = "A tf.device scope asks for a GPU that is not there, and nothing says so"
# codes = ["DEV002", "DEV001"]
# families = ["device"]
# source = "Stack Overflow questions on TensorFlow not using the GPU in spite of tf.device"
# note = "runs on the CPU either way"
# ///
