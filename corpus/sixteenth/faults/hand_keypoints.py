"""Predict the key points of two hands as heat maps (small encoder-decoder)."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(13)

SIZE, OUT, POINTS = 32, 16, 42
SIGMA = 1.4
N, EPOCHS, BATCH = 2500, 14, 50


def draw_hands(n, seed):
    rng = np.random.default_rng(seed)
    base = np.random.default_rng(0).uniform(0.25, 0.75, size=(POINTS, 2))
    pts = base[None] + rng.normal(scale=0.05, size=(n, POINTS, 2))
    pts = np.clip(pts, 0.05, 0.95).astype(np.float32)
    img = 0.1 * rng.normal(size=(n, SIZE, SIZE, 1)).astype(np.float32)
    cells = (pts * SIZE).astype(int)
    for k in range(POINTS):
        img[np.arange(n), cells[:, k, 1], cells[:, k, 0], 0] += 0.5 + 0.05 * k
    return img, pts


def jitter(img, pts):
    """Shift the images and their points together by up to three pixels."""
    move = tf.random.uniform((2,), -3, 4, tf.int32)
    img = tf.roll(img, move, axis=(1, 2))
    shift = tf.cast(move[::-1], tf.float32) / SIZE
    return img, pts + shift


def heatmaps(pts):
    pts = pts.numpy()
    maps = np.zeros((len(pts), OUT, OUT, POINTS), np.float32)
    grid = np.arange(OUT, dtype=np.float32)
    for b in range(len(pts)):
        for k in range(POINTS):
            x, y = pts[b, k] * OUT - 0.5
            if not (-2.0 < x < OUT + 2.0 and -2.0 < y < OUT + 2.0):
                continue
            d2 = (grid[None, :] - x) ** 2 + (grid[:, None] - y) ** 2
            maps[b, :, :, k] = np.exp(-d2 / (2 * SIGMA ** 2))
    return maps


def add_target(img, pts):
    target = tf.py_function(heatmaps, [pts], tf.float32)
    target.set_shape((BATCH, OUT, OUT, POINTS))
    return img, target


def make_dataset(img, pts):
    return (
        tf.data.Dataset.from_tensor_slices((img, pts))
        .shuffle(N, seed=2)
        .batch(BATCH, drop_remainder=True)
        .map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
        .map(add_target, num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
    )


def make_model():
    inp = layers.Input((SIZE, SIZE, 1))
    x = layers.Conv2D(6, 3, strides=2, padding="same", activation="relu")(inp)
    skip = x
    x = layers.Conv2D(12, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2D(12, 3, padding="same", activation="relu")(x)
    x = layers.UpSampling2D()(x)
    x = layers.Concatenate()([x, skip])
    return tf.keras.Model(inp, layers.Conv2D(POINTS, 1)(x))


img, pts = draw_hands(N, 1)
model = make_model()
model.compile(optimizer=tf.keras.optimizers.Adam(3e-3), loss="mse")
history = model.fit(make_dataset(img, pts), epochs=EPOCHS, verbose=2)

test_img, test_pts = draw_hands(300, 2)
maps = model.predict(test_img, batch_size=100, verbose=0)
flat = maps.reshape(len(maps), OUT * OUT, POINTS).argmax(1)
found = np.stack([flat % OUT, flat // OUT], -1) / OUT + 0.5 / OUT
print("mean error in pixels: %.2f" % (np.abs(found - test_pts).mean() * SIZE))
