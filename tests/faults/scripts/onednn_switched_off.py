import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # FAULT

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    return layers.MaxPooling2D()(x)


inputs = tf.keras.Input((64, 64, 3))
x = block(inputs, 32)
x = block(x, 48)
x = block(x, 64)
outputs = layers.Dense(4)(layers.GlobalAveragePooling2D()(x))
model = tf.keras.Model(inputs, outputs)
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    jit_compile=False,
)

photos = np.random.rand(480, 64, 64, 3).astype("float32")
kinds = np.random.randint(0, 4, 480)
out = model.fit(photos, kinds, batch_size=16, epochs=2, verbose=2)
print("final", out.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "TF_ENABLE_ONEDNN_OPTS=0, set to silence a message, takes the fast convolutions away"
# codes = ["DEV005"]
# families = ["device"]
# source = "Stack Overflow questions on silencing 'oneDNN custom operations are on'; GitHub, tensorflow/tensorflow #56350"
# ///
