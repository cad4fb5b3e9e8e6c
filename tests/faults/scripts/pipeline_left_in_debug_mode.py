import numpy as np
import tensorflow as tf

tf.data.experimental.enable_debug_mode()  # FAULT
rng = np.random.default_rng(0)
rows = rng.normal(size=(4000, 32)).astype(np.float32)
kinds = rng.integers(0, 3, len(rows))


def clean(row, kind):
    row = tf.clip_by_value(row, -3.0, 3.0)
    return (row - tf.reduce_mean(row)) / (tf.math.reduce_std(row) + 1e-6), kind


data = tf.data.Dataset.from_tensor_slices((rows, kinds)).shuffle(len(rows), seed=1)
data = data.map(clean, num_parallel_calls=tf.data.AUTOTUNE).batch(64).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential(
    [tf.keras.Input((32,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(3)]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data, epochs=4, verbose=2)

# /// fault
# style = "fit"
# kind = "time"
# cause = "tf.data's debug mode was left on, so Python calls each operation of the map for each row"
# codes = ["INP016"]
# families = ["input"]
# source = "tensorflow.org API page of tf.data.experimental.enable_debug_mode; questions on pipelines that got slow after debugging"
# ///
