"""Leaf disease classifier, small residual CNN.  Images are procedurally drawn."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision

keras.utils.set_random_seed(7)

IMG = 48
CLASSES = ["healthy", "rust", "scab", "mildew"]
N_TRAIN, N_TEST = 320, 96
BATCH = 16
EPOCHS = 2


def draw(label, rng):
    yy, xx = np.mgrid[0:IMG, 0:IMG] / IMG
    img = np.zeros((IMG, IMG, 3), "float32")
    leaf = ((xx - 0.5) / 0.35) ** 2 + ((yy - 0.5) / 0.45) ** 2 < 1
    img[leaf] = (0.15, 0.5 + 0.2 * rng.random(), 0.15)
    colour = {1: (0.7, 0.35, 0.1), 2: (0.2, 0.15, 0.1), 3: (0.85, 0.85, 0.8)}.get(label)
    if colour is not None:
        for _ in range(rng.integers(4, 10)):
            cx, cy, r = rng.uniform(0.25, 0.75, 2).tolist() + [rng.uniform(0.02, 0.07)]
            spot = ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r) & leaf
            img[spot] = colour
    return np.clip(img + rng.normal(0, 0.06, img.shape), 0, 1)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CLASSES), n)
    x = np.stack([draw(k, rng) for k in y]).astype("float32")
    return x, y


def residual_block(x, filters, stride=1):
    shortcut = x
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    if stride != 1 or shortcut.shape[-1] != filters:
        shortcut = layers.Conv2D(filters, 1, strides=stride, use_bias=False)(shortcut)
    return layers.ReLU()(layers.Add()([x, shortcut]))


def build():
    inputs = keras.Input((IMG, IMG, 3))
    x = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inputs)
    x = residual_block(x, 16)
    x = residual_block(x, 32, stride=2)
    x = residual_block(x, 64, stride=2)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dense(len(CLASSES))(x)
    outputs = layers.Activation("softmax", dtype="float32")(x)
    return keras.Model(inputs, outputs)


x_train, y_train = dataset(N_TRAIN, 0)
x_test, y_test = dataset(N_TEST, 1)
train_ds = (tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(N_TRAIN, seed=7)
            .batch(BATCH).prefetch(tf.data.AUTOTUNE))

model = build()
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="sparse_categorical_crossentropy",
              metrics=["accuracy"])
print("parameters:", model.count_params())
model.fit(train_ds, epochs=EPOCHS, verbose=2)

pred = model.predict(x_test, batch_size=96, verbose=0).argmax(1)
for k, name in enumerate(CLASSES):
    mask = y_test == k
    print(f"{name:8s} recall {np.mean(pred[mask] == k):.2f} ({mask.sum()} images)")
