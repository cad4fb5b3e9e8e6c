"""Which of ten words is spoken? A small network looks at each video frame, a GRU at the sequence."""
import argparse

import numpy as np
import tensorflow as tf

L = tf.keras.layers


class FrameEncoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.net = tf.keras.Sequential([
            L.Conv2D(8, 3, strides=2, activation="relu"),
            L.Conv2D(12, 3, strides=2, activation="relu"),
            L.Flatten(),
            L.Dense(24, activation="relu"),
        ])

    def call(self, frame):
        return self.net(frame)


class LipReader(tf.keras.Model):
    def __init__(self, words):
        super().__init__()
        self.encoder = FrameEncoder()
        self.gru = L.GRU(32)
        self.out = L.Dense(words)

    def call(self, video):
        seen = []
        for t in range(video.shape[1]):
            seen.append(self.encoder(video[:, t]))
        return self.out(self.gru(tf.stack(seen, axis=1)))


def clips(count, frames, rng):
    words = rng.integers(0, 10, count)
    video = rng.normal(scale=0.5, size=(count, frames, 24, 24, 1)).astype("float32")
    for i, word in enumerate(words):
        video[i, :, word: word + 4, 4:20] += 1.0
    return video, words.astype("int32")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--epochs", type=int, default=3)
    opts = parser.parse_args()
    tf.keras.utils.set_random_seed(2)
    video, words = clips(320, opts.frames, np.random.default_rng(0))
    model = LipReader(10)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(video, words, batch_size=8, epochs=opts.epochs, verbose=2)


if __name__ == "__main__":
    main()
