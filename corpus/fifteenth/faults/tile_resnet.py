import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision

parser = argparse.ArgumentParser(description="land-use tiles, small ResNet")
parser.add_argument("--tiles", type=int, default=1280)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--seed", type=int, default=13)
args = parser.parse_args([])

keras.utils.set_random_seed(args.seed)
mixed_precision.set_global_policy("mixed_float16")


def synthetic_tiles(n):
    rng = np.random.default_rng(args.seed)
    y = rng.integers(0, 6, n)
    grid = np.stack(np.meshgrid(np.arange(32), np.arange(32)), -1).astype(np.float32)
    angle = y * np.pi / 6
    proj = grid[None, ..., 0] * np.cos(angle)[:, None, None] + grid[None, ..., 1] * np.sin(angle)[:, None, None]
    x = np.sin(proj * 0.9)[..., None] + 0.5 * rng.normal(size=(n, 32, 32, 3))
    return x.astype(np.float32), y.astype(np.int32)


def conv_bn(x, filters, stride=1, act=True):
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.Activation("relu")(x) if act else x


def residual(x, filters, stride=1):
    skip = x
    y = conv_bn(x, filters, stride)
    y = conv_bn(y, filters, act=False)
    if stride != 1 or x.shape[-1] != filters:
        skip = layers.Conv2D(filters, 1, strides=stride, use_bias=False)(x)
    return layers.Activation("relu")(layers.Add()([y, skip]))


def build_model(classes=6):
    inputs = keras.Input((32, 32, 3))
    x = conv_bn(inputs, 16)
    x = residual(x, 16)
    x = residual(x, 32, 2)
    x = residual(x, 64, 2)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dense(classes)(x)
    outputs = layers.Activation("softmax", dtype="float32")(x)
    return keras.Model(inputs, outputs)


x, y = synthetic_tiles(args.tiles)
n_val = args.tiles // 10
train = (
    tf.data.Dataset.from_tensor_slices((x[n_val:], y[n_val:]))
    .shuffle(args.tiles, seed=args.seed)
    .batch(args.batch_size)
    .prefetch(tf.data.AUTOTUNE)
)
val = tf.data.Dataset.from_tensor_slices((x[:n_val], y[:n_val])).batch(args.batch_size)

model = build_model()
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
print("parameters:", model.count_params())
model.fit(train, validation_data=val, epochs=args.epochs, verbose=2)
