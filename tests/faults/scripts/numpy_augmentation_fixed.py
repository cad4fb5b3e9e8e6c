"""Segmentation-like toy task, augmented on the fly."""

import numpy as np
import tensorflow as tf

images = np.random.RandomState(3).rand(400, 48, 48, 1).astype(np.float32)
masks = (images > 0.5).astype(np.float32)


def augment(image, mask):
    shift = tf.random.uniform((48, 1), -4, 5, dtype=tf.int32)
    source = (tf.range(48)[tf.newaxis, :] - shift) % 48
    image = tf.gather(image, source, axis=1, batch_dims=1)
    mask = tf.gather(mask, source, axis=1, batch_dims=1)
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
