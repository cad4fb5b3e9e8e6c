"""A small ResNet on synthetic 32x32 pictures, plain Keras."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(3)
CLASSES, N, BATCH, EPOCHS = 10, 1024, 64, 2


def pictures(n, seed):
    rng = np.random.default_rng(seed)
    base = np.random.default_rng(99).normal(size=(CLASSES, 8, 8, 3))
    base = base.repeat(4, axis=1).repeat(4, axis=2)
    y = rng.integers(0, CLASSES, n)
    x = base[y] + rng.normal(0, 1.2, (n, 32, 32, 3))
    return x.astype(np.float32), y.astype(np.int32)


def block(x, filters, stride=1):
    short = x
    y = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    y = layers.BatchNormalization(momentum=0.8)(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(filters, 3, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization(momentum=0.8)(y)
    if stride != 1 or short.shape[-1] != filters:
        short = layers.Conv2D(filters, 1, strides=stride, use_bias=False)(short)
    return layers.ReLU()(layers.Add()([y, short]))


def build():
    inp = keras.Input((32, 32, 3))
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(inp)
    for filters, stride in [(32, 1), (64, 2), (64, 1), (128, 2)]:
        x = block(x, filters, stride)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.Dense(CLASSES)(x))


def augment(x, y):
    x = tf.image.random_flip_left_right(x, seed=4)
    x = tf.pad(x, [[0, 0], [2, 2], [2, 2], [0, 0]])
    x = tf.image.random_crop(x, [tf.shape(x)[0], 32, 32, 3], seed=5)
    return x, y


x, y = pictures(N, 0)
xv, yv = pictures(256, 1)
train = (tf.data.Dataset.from_tensor_slices((x, y)).shuffle(N, seed=1)
         .batch(BATCH, drop_remainder=True)
         .map(augment, num_parallel_calls=tf.data.AUTOTUNE)
         .prefetch(tf.data.AUTOTUNE))
model = build()
model.compile(keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
              keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
model.fit(train, epochs=EPOCHS, validation_data=(xv, yv), verbose=2)
print("validation:", model.evaluate(xv, yv, batch_size=128, verbose=0))
