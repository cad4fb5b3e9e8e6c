import numpy as np
import tensorflow as tf

rng = np.random.default_rng(11)
lengths = np.clip(rng.lognormal(3.4, 0.6, 100), 8, 160).astype(int)
signals = [rng.normal(size=(length, 6)).astype("float32") for length in lengths]
labels = np.array([int(signal.mean() > 0) for signal in signals], "int32")


def dataset(chosen):
    events = tf.data.Dataset.from_generator(
        lambda: ((signals[index], labels[index]) for index in chosen),
        output_signature=(tf.TensorSpec([None, 6], tf.float32), tf.TensorSpec([], tf.int32)),
    )
    return events.padded_batch(20).cache().prefetch(tf.data.AUTOTUNE)  # FAULT


inputs = tf.keras.Input((None, 6))
hidden = inputs
for width in (24, 32):
    hidden = tf.keras.layers.Conv1D(width, 5, padding="same", activation="relu")(hidden)
    hidden = tf.keras.layers.LayerNormalization()(hidden)
outputs = tf.keras.layers.Dense(2)(tf.keras.layers.GlobalAveragePooling1D()(hidden))
model = tf.keras.Model(inputs, outputs)
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    jit_compile=True,  # FAULT
)
history = model.fit(dataset(range(80)), epochs=12, verbose=0)
loss = model.evaluate(dataset(range(80, 100)), verbose=0)
print("loss %.3f test %.3f" % (history.history["loss"][-1], loss))

# /// fault
# style = "fit"
# kind = "time"
# cause = "each batch is padded to its own longest signal, so with jit_compile=True XLA compiles the step once more for each batch of the first epoch"
# codes = ["CMP001"]
# families = ["compile"]
# source = "https://www.tensorflow.org/xla/known_issues: with dynamic shapes XLA compiles for each one"
# ///
