"""Classify brush strokes: strokes are read from a log by a generator and drawn as small maps."""
import numpy as np
import tensorflow as tf

SIZE, POINTS, PAINTERS = 28, 24, 5


class StrokeLog:
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.painter = rng.integers(0, PAINTERS, count)
        turn = rng.normal(scale=0.2 + 0.2 * self.painter[:, None], size=(count, POINTS))
        angle = np.cumsum(turn, 1)
        track = np.cumsum(np.stack([np.cos(angle), np.sin(angle)], -1), 1)
        low, high = track.min(1, keepdims=True), track.max(1, keepdims=True)
        self.track = ((track - low) / (high - low + 1e-6) * (SIZE - 1)).astype("float32")

    def __len__(self):
        return len(self.painter)

    def examples(self):
        for track, painter in zip(self.track, self.painter):
            cells = tf.cast(tf.round(track), tf.int64)
            drawn = tf.scatter_nd(cells, tf.ones([POINTS]), [SIZE, SIZE])
            image = tf.clip_by_value(drawn, 0.0, 1.0)[..., tf.newaxis]
            yield image, tf.one_hot(painter, PAINTERS)


def dataset(log, batch):
    signature = (tf.TensorSpec([SIZE, SIZE, 1]), tf.TensorSpec([PAINTERS]))
    ds = tf.data.Dataset.from_generator(log.examples, output_signature=signature)
    return ds.shuffle(256, seed=1).batch(batch).prefetch(tf.data.AUTOTUNE)


def network():
    return tf.keras.Sequential([
        tf.keras.layers.Input((SIZE, SIZE, 1)),
        tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(PAINTERS),
    ])


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(6)
    log = StrokeLog(2500, 6)
    model = network()
    model.compile("adam", tf.keras.losses.CategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(dataset(log, 64), epochs=4, verbose=2)
