import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(6)
lengths = rng.integers(10, 60, 4000)
tokens = tf.ragged.constant([rng.integers(1, 2000, n).tolist() for n in lengths], dtype=tf.int32)
labels = rng.integers(0, 2, 4000).astype("float32")

dataset = tf.data.Dataset.from_tensor_slices((tokens.to_tensor(shape=(None, 64)), labels))
dataset = dataset.cache().shuffle(4000).batch(64, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential(
    [
        layers.Input((64,), dtype="int32"),
        layers.Embedding(2000, 64),
        layers.Conv1D(128, 5, activation="relu"),
        layers.Conv1D(128, 5, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(1),
    ]
)
model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True), jit_compile=False)
print(model.fit(dataset, epochs=5, verbose=2).history["loss"])

# /// healthy
# style = "text"
# ///
