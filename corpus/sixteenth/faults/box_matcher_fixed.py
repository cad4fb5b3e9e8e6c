"""Detection report: matches predicted boxes to the annotated ones, image by image, and computes recall."""
import numpy as np
import tensorflow as tf

IMAGES = 450
PREDICTED = 900
ANNOTATED = 40
SIZE = 640.0


def random_boxes(rng, n):
    centre = rng.uniform(40, SIZE - 40, size=(n, 2))
    half = rng.uniform(8, 40, size=(n, 2))
    return np.concatenate([centre - half, centre + half], axis=1).astype("float32")


def make_image(rng):
    truth = random_boxes(rng, ANNOTATED)
    jittered = truth[rng.integers(ANNOTATED, size=PREDICTED // 3)]
    jittered = jittered + rng.normal(scale=6, size=jittered.shape)
    noise = random_boxes(rng, PREDICTED - len(jittered))
    pred = np.concatenate([jittered, noise]).astype("float32")
    return rng.permutation(pred), truth


def area(b):
    return tf.maximum(b[..., 2] - b[..., 0], 0.0) * tf.maximum(b[..., 3] - b[..., 1], 0.0)


def overlap(a, b):
    """Intersection over union; a and b broadcast against each other."""
    left_top = tf.maximum(a[..., :2], b[..., :2])
    right_bottom = tf.minimum(a[..., 2:], b[..., 2:])
    inner = area(tf.concat([left_top, right_bottom], axis=-1))
    return inner / (area(a) + area(b) - inner + 1e-6)


@tf.function
def match(pred, truth):
    iou = overlap(pred[:, None, :], truth[None, :, :])
    best = tf.reduce_max(iou, axis=1)
    which = tf.argmax(iou, axis=1, output_type=tf.int32)
    covered = tf.reduce_max(iou, axis=0)
    return best, which, covered


def main():
    rng = np.random.default_rng(21)
    levels = np.arange(0.5, 0.96, 0.05)
    found = np.zeros(len(levels))
    precise = np.zeros(len(levels))
    per_truth = np.zeros(ANNOTATED, int)
    for _ in range(IMAGES):
        pred, truth = make_image(rng)
        best, which, covered = match(tf.constant(pred), tf.constant(truth))
        found += (covered.numpy()[:, None] >= levels).sum(axis=0)
        precise += (best.numpy()[:, None] >= levels).sum(axis=0)
        per_truth += np.bincount(which.numpy()[best.numpy() >= 0.5], minlength=ANNOTATED)
    print(f"{IMAGES} images, {IMAGES * PREDICTED} predicted boxes")
    for i, level in enumerate(levels):
        print(f"IoU {level:.2f}: recall {found[i] / (IMAGES * ANNOTATED):.3f}  "
              f"precision {precise[i] / (IMAGES * PREDICTED):.3f}")
    print("matches per annotated box:", per_truth.min(), "to", per_truth.max())


if __name__ == "__main__":
    main()
