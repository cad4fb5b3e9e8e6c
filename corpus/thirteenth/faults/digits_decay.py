"""Step-decay training of a small residual net on 28x28 glyphs.

lr falls by 10 % every round; after each round the test accuracy is printed.
"""
import numpy as np
import keras
import tensorflow as tf
from keras import layers

ROUNDS = 8
BASE_LR = 0.08


def glyphs(n, seed):
    rng = np.random.default_rng(seed)
    shapes = (np.random.default_rng(5).random((10, 7, 7)) > 0.55).astype("float32")
    y = rng.integers(0, 10, n)
    x = shapes[y].repeat(4, 1).repeat(4, 2)
    for i in range(n):
        x[i] = np.roll(x[i], rng.integers(-3, 4, 2), axis=(0, 1))
    x += rng.normal(0, 0.6, x.shape)
    return x[..., None].astype("float32"), y


def residual(x, width, stride):
    y = layers.Conv2D(width, 3, stride, padding="same", use_bias=False)(x)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(width, 3, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    if stride != 1 or x.shape[-1] != width:
        x = layers.Conv2D(width, 1, stride, use_bias=False)(x)
    return layers.ReLU()(layers.add([x, y]))


def resnet():
    inp = keras.Input((28, 28, 1))
    x = layers.Conv2D(8, 3, strides=2, padding="same")(inp)
    for width, stride in ((8, 1), (8, 1), (16, 2), (16, 1), (32, 2), (32, 1)):
        x = residual(x, width, stride)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.Dense(10)(x))


def prepare(model, lr):
    model.compile(
        optimizer=keras.optimizers.SGD(learning_rate=lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )


def run():
    keras.utils.set_random_seed(1)
    x, y = glyphs(1024, 0)
    xt, yt = glyphs(512, 1)
    model = resnet()
    print("parameters:", model.count_params())
    lr = BASE_LR
    for r in range(ROUNDS):
        prepare(model, lr)
        h = model.fit(x, y, batch_size=64, epochs=1, verbose=0)
        loss, acc = model.evaluate(xt, yt, batch_size=128, verbose=0)
        print(f"round {r:2d} lr {lr:.4f} train {h.history['loss'][0]:.4f} test {loss:.4f} acc {acc:.3f}")
        lr *= 0.9


run()
