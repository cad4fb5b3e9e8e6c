import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, layers

root = tempfile.mkdtemp()
for k in range(240):
    picture = np.random.randint(0, 255, (200, 200, 3), dtype=np.uint8)
    tf.io.write_file(os.path.join(root, f"{k}.jpg"), tf.io.encode_jpeg(picture))


def read_image(path):
    data = tf.io.read_file(path)
    image = tf.image.decode_jpeg(data, channels=3)
    image = tf.image.resize(image, [64, 64], antialias=True) / 255.0
    return image, image


def dataset():
    files = tf.data.Dataset.list_files(root + "/*.jpg", shuffle=False)
    images = files.map(read_image, num_parallel_calls=tf.data.AUTOTUNE)  # FAULT
    return images.shuffle(240).batch(16).prefetch(tf.data.AUTOTUNE)


inputs = Input((64, 64, 3))
x = layers.Conv2D(8, 4, strides=4, activation="relu")(inputs)
x = layers.Conv2DTranspose(3, 4, strides=4, activation="sigmoid")(x)
autoencoder = Model(inputs, x)
autoencoder.compile(optimizer="adam", loss="mse")
history = autoencoder.fit(dataset(), epochs=12, verbose=2)
print("reconstruction", history.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "Images are decoded and resized again in every epoch though the result is always the same"
# codes = ["INP006", "INP001"]
# families = ["input"]
# source = "tensorflow.org guide 'Better performance with the tf.data API', section on caching; class 'repeated work' in data preparation of arXiv 2112.01771"
# ///
