"""Item vectors from shopping baskets, compared by cosine."""
import numpy as np
import tensorflow as tf


class CosineItems(tf.keras.layers.Layer):
    """Scores pairs of items by the cosine of their vectors."""

    def __init__(self, items, width):
        super().__init__()
        self.table = self.add_weight(shape=(items, width), initializer="random_normal", name="table")

    def call(self, left, right):
        a = tf.math.l2_normalize(tf.gather(self.table, left), axis=-1)
        b = tf.math.l2_normalize(tf.gather(self.table, right), axis=-1)
        return 5.0 * tf.reduce_sum(a * b, axis=-1)


class Trainer:
    def __init__(self, items, width=64, seed=17):
        self.items = items
        self.layer = CosineItems(items, width)
        self.optimizer = tf.keras.optimizers.SGD(2.0)
        self.optimizer.build(self.layer.trainable_variables)
        self.rng = np.random.default_rng(seed)

    def pairs(self, count):
        left = (self.rng.zipf(1.2, count) % self.items).astype("int32")
        near = (left + self.rng.integers(1, 4, count)) % self.items
        far = self.rng.integers(0, self.items, count)
        label = self.rng.integers(0, 2, count)
        right = np.where(label == 1, near, far)
        return left, right.astype("int32"), label.astype("float32")

    @tf.function
    def step(self, left, right, label):
        with tf.GradientTape() as tape:
            logits = self.layer(left, right)
            loss = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits))
        variables = self.layer.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def run(self, steps, batch):
        losses = []
        for _ in range(steps):
            left, right, label = self.pairs(batch)
            losses.append(self.step(tf.constant(left), tf.constant(right), tf.constant(label)))
        return np.asarray(losses)


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(17)
    losses = Trainer(items=60000).run(steps=480, batch=512)
    print("loss first %.4f last %.4f" % (losses[:10].mean(), losses[-10:].mean()))
