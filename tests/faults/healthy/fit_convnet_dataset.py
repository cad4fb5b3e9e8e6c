import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

images = np.random.randint(0, 255, (1280, 40, 40, 3), dtype=np.uint8)
labels = np.random.randint(0, 10, 1280)


def prepare(batch, label):
    batch = tf.cast(batch, tf.float32) / 255.0
    return tf.image.random_flip_left_right(batch), label


train = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .shuffle(1280)
    .batch(64)
    .map(prepare, num_parallel_calls=tf.data.AUTOTUNE)
    .prefetch(tf.data.AUTOTUNE)
)
model = tf.keras.Sequential(
    [
        tf.keras.Input((40, 40, 3)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", jit_compile=False)
h = model.fit(train, epochs=4, verbose=2)
print("loss", h.history["loss"][-1])

# /// healthy
# style = "fit"
# ///
