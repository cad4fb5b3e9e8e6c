import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(1)
waves = np.cumsum(rng.normal(size=(4096, 128, 8)), axis=1).astype(np.float32) / 10
direction = (waves[:, -1, 0] > 0).astype(np.float32)[:, None]
ds = tf.data.Dataset.from_tensor_slices((waves, direction)).shuffle(4096).batch(64).prefetch(2)

model = tf.keras.Sequential(
    [
        layers.Input((128, 8)),
        layers.Conv1D(64, 5, activation="relu"),
        layers.Conv1D(64, 5, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_epoch(dataset):
    total, count = 0.0, 0.0
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = bce(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        total += loss
        count += 1.0
    return total / count


for epoch in range(8):
    print("epoch", epoch, "loss", float(train_epoch(ds)))

# /// healthy
# style = "custom"
# ///
