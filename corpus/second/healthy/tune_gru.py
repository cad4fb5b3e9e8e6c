"""Learn made-up melodies with a GRU in a custom loop."""
import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--units", type=int, default=192)
args = parser.parse_args()

tf.keras.utils.set_random_seed(40)
rng = np.random.default_rng(40)
steps = rng.choice([-3, -2, -1, 1, 2, 3], size=(3000, 65), p=[.05, .15, .3, .3, .15, .05])
notes = np.clip(30 + np.cumsum(steps, axis=1), 0, 59).astype("int32")
train = (tf.data.Dataset.from_tensor_slices((notes[:, :-1], notes[:, 1:]))
         .cache()
         .shuffle(3000, seed=40)
         .batch(64, drop_remainder=True)
         .prefetch(tf.data.AUTOTUNE))

model = tf.keras.Sequential([
    tf.keras.layers.Input((64,), dtype="int32"),
    tf.keras.layers.Embedding(60, 48),
    tf.keras.layers.GRU(args.units, return_sequences=True),
    tf.keras.layers.Dense(60),
])
optimizer = tf.keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)
loss_mean = tf.keras.metrics.Mean()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    loss_mean.update_state(loss)


with tempfile.TemporaryDirectory() as folder:
    for epoch in range(args.epochs):
        for x, y in train:
            train_step(x, y)
        print("epoch", epoch, "loss %.4f" % float(loss_mean.result()))
        loss_mean.reset_state()
        model.save_weights(os.path.join(folder, "melody.weights.h5"))
