import io

import numpy as np
import tensorflow as tf
from PIL import Image


def jpeg(seed):
    pixels = np.random.default_rng(seed).integers(0, 255, (160, 160, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG")
    return out.getvalue()


encoded = [jpeg(i) for i in range(480)]
labels = np.arange(len(encoded)) % 4


def decode(data, label):
    image = tf.image.decode_jpeg(data, channels=3)
    image = tf.cast(image, tf.float32) / 255.0
    return tf.ensure_shape(image, (160, 160, 3)), label


ds = tf.data.Dataset.from_tensor_slices((encoded, labels))
ds = ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
ds = ds.shuffle(20000)  # FAULT
ds = ds.batch(16, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

cnn = tf.keras.Sequential(
    [
        tf.keras.Input((160, 160, 3)),
        tf.keras.layers.Conv2D(12, 5, strides=3, activation="relu"),
        tf.keras.layers.MaxPool2D(4),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(4),
    ]
)
opt = tf.keras.optimizers.Adam()
bce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, cnn(x, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, cnn.trainable_weights), cnn.trainable_weights))
    return loss


for epoch in range(6):
    total = 0.0
    for x, y in ds:
        total += float(step(x, y))
    print("epoch", epoch, "loss", total / 30)

# /// fault
# style = "custom"
# kind = "memory"
# cause = "A shuffle buffer of all decoded images is filled before the first step of each epoch"
# codes = ["INP009", "INP008"]
# families = ["input", "memory"]
# source = "GitHub, tensorflow/tensorflow #30646 'Filling shuffle buffer, this happens before the beginning of every epoch'; aloyschen/tensorflow-yolo3 #12"
# note = "the buffer holds every decoded image (147 MB) and is filled before each first step; both cores are busy decoding either way, so the time is the same"
# ///
