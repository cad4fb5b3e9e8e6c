"""Plain Keras training of a conv net on drawn shapes with light augmentation."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(101)
AUTOTUNE = tf.data.AUTOTUNE
SIZE, CLASSES, BATCH, EPOCHS = 32, 6, 128, 5


def render(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    label = rng.integers(0, CLASSES, n)
    cx, cy = rng.uniform(10, 22, (2, n, 1, 1)).astype("float32")
    r = rng.uniform(5, 10, (n, 1, 1)).astype("float32")
    dx, dy = xx - cx, yy - cy
    forms = np.stack([np.hypot(dx, dy) < r, (abs(dx) < r) & (abs(dy) < r), abs(dx) + abs(dy) < r,
                      (abs(dx) < r / 3) & (abs(dy) < r), (abs(dy) < r / 3) & (abs(dx) < r),
                      abs(np.hypot(dx, dy) - r) < 1.5])
    mask = forms[label, np.arange(n)]
    img = np.where(mask[..., None], rng.uniform(0.5, 1, (n, 1, 1, 3)), rng.uniform(0, 0.4, (n, 1, 1, 3)))
    return (img + rng.normal(0, 0.1, img.shape)).astype("float32"), label.astype("int32")


def augment(images, labels):
    images = tf.image.random_flip_left_right(images)
    images = tf.image.random_brightness(images, 0.1)
    return images, labels


def conv(x, filters, strides=1):
    x = layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False)(x)
    return layers.ReLU()(layers.BatchNormalization()(x))


def build():
    inp = keras.Input((SIZE, SIZE, 3))
    x = conv(inp, 24)
    x = conv(x, 48, strides=2)
    x = conv(x, 64, strides=2)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.Dense(CLASSES)(x))


x_train, y_train = render(6000, 0)
x_val, y_val = render(1000, 1)
train = (tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6000, seed=1)
         .batch(BATCH, drop_remainder=True).map(augment, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE))
val = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(500).cache().prefetch(AUTOTUNE)

model = build()
model.compile(optimizer=keras.optimizers.Adam(2e-3),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train, validation_data=val, epochs=EPOCHS, verbose=2,
          callbacks=[keras.callbacks.ReduceLROnPlateau(patience=2)])
pred = model.predict(x_val, batch_size=500, verbose=0).argmax(1)
print("per class:", [round(float((pred[y_val == k] == k).mean()), 2) for k in range(CLASSES)])
