"""Colour palettes of many posters: k-means on pixel + position features with TensorFlow."""
import numpy as np
import tensorflow as tf

K = 64
ITERATIONS = 30
POSTERS = 8
H, W = 160, 120


def make_poster(seed):
    rng = np.random.default_rng(seed)
    img = np.zeros((H, W, 3), "float32") + rng.uniform(0, 1, 3)
    for _ in range(25):
        r0, c0 = rng.integers(0, H - 10), rng.integers(0, W - 10)
        r1, c1 = r0 + rng.integers(8, 60), c0 + rng.integers(8, 60)
        img[r0:r1, c0:c1] = rng.uniform(0, 1, 3)
    img += rng.normal(0, 0.03, img.shape)
    return np.clip(img, 0, 1).astype("float32")


def pixel_features(img):
    """Colour, local averages at a few scales and position for every pixel."""
    x = tf.constant(img)[None]
    maps = [x]
    for size in (3, 7, 15):
        maps.append(tf.nn.avg_pool2d(x, size, strides=1, padding="SAME"))
    rows, cols = tf.meshgrid(tf.linspace(0.0, 1.0, H), tf.linspace(0.0, 1.0, W), indexing="ij")
    maps.append(0.5 * tf.stack([rows, cols], -1)[None])
    feats = tf.concat(maps, axis=-1)
    return tf.reshape(feats, [-1, feats.shape[-1]])


@tf.function
def pairwise_sq_dist(points, centres):
    diff = tf.expand_dims(points, 1) - tf.expand_dims(centres, 0)
    return tf.reduce_sum(tf.square(diff), axis=2)


@tf.function
def update_centres(points, assignment, centres):
    sums = tf.math.unsorted_segment_sum(points, assignment, K)
    counts = tf.math.unsorted_segment_sum(tf.ones_like(points[:, 0]), assignment, K)
    fresh = sums / tf.maximum(counts, 1.0)[:, None]
    return tf.where((counts > 0)[:, None], fresh, centres), counts


def kmeans(points, seed):
    rng = np.random.default_rng(seed)
    start = rng.choice(points.shape[0], K, replace=False)
    centres = tf.gather(points, start)
    inertia = None
    for _ in range(ITERATIONS):
        dist = pairwise_sq_dist(points, centres)
        assignment = tf.argmin(dist, axis=1, output_type=tf.int32)
        inertia = tf.reduce_mean(tf.reduce_min(dist, axis=1))
        centres, counts = update_centres(points, assignment, centres)
    return centres, counts, float(inertia)


def main():
    palettes = []
    for p in range(POSTERS):
        points = pixel_features(make_poster(p))
        centres, counts, inertia = kmeans(points, seed=p)
        order = np.argsort(-counts.numpy())
        palette = centres.numpy()[order[:5], :3]
        palettes.append(palette)
        print(f"poster {p}: {points.shape[0]} pixels, inertia {inertia:.5f}, "
              f"main colour {np.round(palette[0], 2)}")
    spread = np.std(np.stack(palettes), axis=0).mean()
    print("palette spread", round(float(spread), 4))


if __name__ == "__main__":
    main()
