"""Train a small detector that spots worn parts; hard negatives count most."""
import argparse

import numpy as np
import tensorflow as tf

ANCHORS = 24000
POSITIVES = 40
HARD = 120


class AnchorHead(tf.keras.Model):
    def __init__(self, width):
        super().__init__()
        self.mix = tf.keras.layers.Dense(width, activation="relu")
        self.score = tf.keras.layers.Dense(1)

    def call(self, inputs):
        return tf.squeeze(self.score(self.mix(inputs)), -1)


def make_scenes(count, seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(count, ANCHORS, 6)).astype("float32")
    labels = np.zeros((count, ANCHORS), "float32")
    for row in labels:
        row[rng.choice(ANCHORS, POSITIVES, replace=False)] = 1.0
    features[..., 0] += 2.0 * labels
    return features, labels


def mined_loss(labels, logits):
    each = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    positive = tf.reduce_sum(each * labels, axis=1)
    negative = each * (1.0 - labels)
    ranked = tf.sort(negative, axis=1, direction="DESCENDING")
    hardest = tf.reduce_sum(ranked[:, :HARD], axis=1)
    return tf.reduce_mean((positive + hardest) / POSITIVES)


class Trainer:
    def __init__(self, width):
        self.model = AnchorHead(width)
        self.optimizer = tf.keras.optimizers.Adam(2e-3)

    @tf.function
    def step(self, features, labels):
        with tf.GradientTape() as tape:
            loss = mined_loss(labels, self.model(features, training=True))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--batch", type=int, default=8)
    args = parser.parse_args()
    tf.keras.utils.set_random_seed(5)
    features, labels = make_scenes(32, 1)
    data = tf.data.Dataset.from_tensor_slices((features, labels))
    data = data.shuffle(32, seed=3).repeat().batch(args.batch).prefetch(2)
    trainer = Trainer(8)
    for number, (x, y) in enumerate(data.take(args.steps)):
        loss = trainer.step(x, y)
        if number % 50 == 0:
            print(f"step {number}: {float(loss):.4f}")
    print(f"last: {float(loss):.4f}")


if __name__ == "__main__":
    main()
