"""Learns to tidy sets of marks: the loss is the distance of a set to the nearest marks of another."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

SETS, MARKS, BATCH = 6_400, 24, 128


def nearest(made, wanted):
    squares = tf.reduce_sum(made**2, -1)[..., :, None] + tf.reduce_sum(wanted**2, -1)[..., None, :]
    between = squares - 2 * tf.matmul(made, wanted, transpose_b=True)
    return tf.reduce_mean(tf.reduce_min(between, axis=-1), axis=-1)


def to_the_nearest(wanted, made):
    return tf.map_fn(  # FAULT
        lambda pair: nearest(*pair), (made, wanted), fn_output_signature=tf.float32
    )


random = np.random.default_rng(1)
tidy = random.uniform(-1, 1, (SETS, MARKS, 2)).astype("float32")
rough = tidy + random.normal(0, 0.1, tidy.shape).astype("float32")
model = keras.Sequential(
    [
        keras.Input((MARKS, 2)),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(2 * MARKS),
        keras.layers.Reshape((MARKS, 2)),
    ]
)
model.compile("adam", loss=to_the_nearest, jit_compile=False)
history = model.fit(rough, tidy, batch_size=BATCH, epochs=8, verbose=0)
print(f"loss {history.history['loss'][-1]:.4f}")

# /// fault
# style = "fit"
# kind = "time"
# cause = "A loss that Keras compiles goes through the batch by tf.map_fn, one set in a turn, forward and backward"
# codes = ["GRF005"]
# families = ["graph"]
# source = "Public Keras code of point clouds and set losses (Chamfer and Hungarian losses by tf.map_fn); GitHub, tensorflow/tensorflow issues on a slow tf.map_fn in graphs"
# ///
