"""Learns which note comes next in melodies, most of them short and a few very long."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

NOTES, BATCH = 130, 32
rng = np.random.default_rng(5)
lengths = np.minimum(np.exp(rng.normal(2.7, 0.9, 1600)).astype(int) + 4, 250)
melodies = tf.ragged.constant([rng.integers(1, NOTES, count).tolist() for count in lengths], dtype=tf.int32)

dataset = tf.data.Dataset.from_tensor_slices(melodies).map(lambda notes: notes).shuffle(1600)
dataset = dataset.padded_batch(BATCH, drop_remainder=True)  # FAULT
dataset = dataset.prefetch(tf.data.AUTOTUNE)

model = keras.Sequential(
    [
        keras.Input((None,), dtype="int32"),
        keras.layers.Embedding(NOTES, 48, mask_zero=True),
        keras.layers.GRU(96, return_sequences=True),
        keras.layers.Dense(NOTES),
    ]
)
optimizer = keras.optimizers.Adam(1e-3)


@tf.function(input_signature=[tf.TensorSpec((BATCH, None), tf.int32)])
def train_step(notes):
    with tf.GradientTape() as tape:
        logits = model(notes[:, :-1], training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(notes[:, 1:], logits)
        known = tf.cast(notes[:, 1:] > 0, tf.float32)
        loss = tf.reduce_sum(losses * known) / tf.reduce_sum(known)
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


for epoch in range(2):
    for notes in dataset:
        loss = train_step(notes)
    print(f"epoch {epoch}: {float(loss):.3f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "padded_batch over shuffled melodies, of which some are very long, so that most of each batch is padding"
# codes = ["GRF018"]
# families = ["graph"]
# source = "TensorFlow's guide to tf.data on padded_batch and bucket_by_sequence_length; public sequence models that pad each batch to its longest"
# ///
