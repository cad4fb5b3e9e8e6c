import gc

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(11)
scans = rng.random((240, 32, 32, 1)).astype("float32")
finder = tf.keras.Sequential(
    [
        tf.keras.layers.Input((32, 32, 1)),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(4),
    ]
)


@tf.function
def classify(scan):
    return tf.argmax(finder(scan, training=False), axis=-1)


found = []
for start in range(0, len(scans), 4):
    found.append(classify(tf.constant(scans[start : start + 4])).numpy())
    gc.collect()  # FAULT
print("found", np.bincount(np.concatenate(found), minlength=4).sum())

# /// fault
# style = "custom"
# kind = "time"
# cause = "gc.collect() is called after each batch of a prediction loop"
# codes = ["STP005"]
# families = ["step"]
# source = "GitHub, dpeerlab/segger #46 (gc.collect() in the prediction loop: 83 s became 1.4 s) and keras-team/keras #3939"
# ///
