"""Classify leaf textures with a small residual CNN and a step-wise learning rate."""
import math

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(21)

CLASSES = 6
EPOCHS = 16
BATCH = 64


def textures(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    yy, xx = np.mgrid[0:24, 0:24].astype("float32") / 24.0
    angle = (y * math.pi / CLASSES)[:, None, None]
    freq = (6 + 2 * (y % 3))[:, None, None]
    phase = rng.uniform(0, 2 * math.pi, n)[:, None, None]
    img = np.sin(2 * math.pi * freq * (np.cos(angle) * xx + np.sin(angle) * yy) + phase)
    img = img + 0.6 * rng.normal(size=img.shape)
    return img[..., None].astype("float32"), y.astype("int32")


def residual(x, filters, stride):
    skip = layers.Conv2D(filters, 1, strides=stride, use_bias=False)(x)
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.Activation("relu")(layers.Add()([x, skip]))


def build():
    inp = keras.Input((24, 24, 1))
    x = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(inp)
    for filters, stride in [(8, 1), (16, 2), (16, 1), (24, 2), (24, 1)]:
        x = residual(x, filters, stride)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.Dense(CLASSES)(x))


def rate(epoch):
    """Linear warm-up for three epochs, then a cosine."""
    if epoch < 3:
        return 0.05 * (epoch + 1) / 3
    return 0.05 * 0.5 * (1 + math.cos(math.pi * (epoch - 3) / (EPOCHS - 3)))


x_train, y_train = textures(1600, 1)
x_val, y_val = textures(640, 2)
model = build()
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

best = 0.0
for epoch in range(EPOCHS):
    model.compile(optimizer=keras.optimizers.SGD(rate(epoch)), loss=loss, metrics=["accuracy"])
    hist = model.fit(x_train, y_train, batch_size=BATCH, validation_data=(x_val, y_val),
                     validation_batch_size=320, initial_epoch=epoch, epochs=epoch + 1, verbose=2)
    best = max(best, hist.history["val_accuracy"][-1])

pred = ops.convert_to_numpy(ops.argmax(model.predict(x_val, batch_size=320, verbose=0), axis=-1))
confusion = np.zeros((CLASSES, CLASSES), int)
np.add.at(confusion, (y_val, pred), 1)
print("best val accuracy %.3f" % best)
print(confusion)
