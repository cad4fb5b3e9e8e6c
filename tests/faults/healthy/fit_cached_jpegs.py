import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

folder = tempfile.mkdtemp()
for i in range(256):
    noise = np.random.randint(0, 255, (96, 96, 3), dtype=np.uint8)
    tf.io.write_file(os.path.join(folder, f"{i % 4}_{i}.jpg"), tf.io.encode_jpeg(noise))


def load(path):
    image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    label = tf.strings.to_number(tf.strings.substr(tf.strings.split(path, os.sep)[-1], 0, 1), tf.int32)
    return tf.image.resize(image, (64, 64)) / 255.0, label


files = tf.data.Dataset.list_files(folder + "/*.jpg")
dataset = files.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
dataset = dataset.shuffle(256).batch(32).prefetch(tf.data.AUTOTUNE)

base = keras.Sequential(
    [
        keras.Input((64, 64, 3)),
        keras.layers.Conv2D(32, 5, strides=2, activation="relu"),
        keras.layers.Conv2D(64, 3, activation="relu"),
        keras.layers.Conv2D(64, 3, strides=2, activation="relu"),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(4),
    ]
)
base.compile(
    keras.optimizers.SGD(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False
)
print(base.fit(dataset, epochs=10, verbose=0).history["loss"])

# /// healthy
# style = "fit"
# ///
