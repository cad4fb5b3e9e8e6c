"""Face embeddings with a contrastive loss over all pairs of a batch."""

import numpy as np
import tensorflow as tf

BATCH = 24


def contrastive_loss(labels, embeddings, margin=1.0):
    labels = tf.reshape(labels, (-1,))
    loss = 0.0
    for i in range(BATCH):
        for j in range(i + 1, BATCH):
            distance = tf.norm(embeddings[i] - embeddings[j] + 1e-6)
            same = tf.cast(labels[i] == labels[j], tf.float32)
            loss += same * distance**2 + (1 - same) * tf.maximum(margin - distance, 0.0) ** 2
    return loss / (BATCH * (BATCH - 1) / 2)


model = tf.keras.Sequential(
    [
        tf.keras.Input((48, 48, 1)),
        tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(64),
    ]
)
model.compile(optimizer="adam", loss=contrastive_loss)
rng = np.random.default_rng(0)
faces = rng.random((BATCH * 60, 48, 48, 1), dtype="float32")
people = rng.integers(0, 40, BATCH * 60)
model.fit(faces, people, batch_size=BATCH, epochs=6, verbose=2)
