"""Segmentation-like toy task, augmented on the fly."""

import numpy as np
import tensorflow as tf

images = np.random.RandomState(3).rand(400, 48, 48, 1).astype(np.float32)
masks = (images > 0.5).astype(np.float32)


def jitter(image, mask):
    out_i, out_m = np.empty_like(image), np.empty_like(mask)
    shift = np.random.randint(-4, 5, size=image.shape[0])
    for row in range(image.shape[0]):
        out_i[row] = np.roll(image[row], shift[row], axis=0)
        out_m[row] = np.roll(mask[row], shift[row], axis=0)
    return out_i, out_m


def augment(image, mask):
    image, mask = tf.numpy_function(jitter, [image, mask], [tf.float32, tf.float32])  # FAULT
    return tf.ensure_shape(image, (48, 48, 1)), tf.ensure_shape(mask, (48, 48, 1))


def make_dataset():
    ds = tf.data.Dataset.from_tensor_slices((images, masks))
    ds = ds.shuffle(400)
    ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(8).prefetch(tf.data.AUTOTUNE)


inputs = tf.keras.Input((48, 48, 1))
h = tf.keras.layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
outputs = tf.keras.layers.Conv2D(1, 1, activation="sigmoid")(h)
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer=tf.keras.optimizers.Adam(), loss="binary_crossentropy")
result = model.fit(make_dataset(), epochs=8, verbose=0)
print("loss:", result.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "The map calls numpy_function, so Python prepares one image at a time however many calls run in parallel"
# codes = ["INP005", "OPS004"]
# families = ["input"]
# source = "GitHub, tensorflow/tensorflow #15694 (py_func has to hold the GIL) and #14448"
# ///
