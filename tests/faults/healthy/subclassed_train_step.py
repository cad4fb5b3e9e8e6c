import numpy as np
import tensorflow as tf
from tensorflow import keras


class Contrastive(keras.Model):
    """Two noisy views of each example must be each other's nearest neighbours."""

    def __init__(self):
        super().__init__()
        self.net = keras.Sequential(
            [
                keras.layers.Dense(512, activation="relu"),
                keras.layers.Dense(512, activation="relu"),
                keras.layers.Dense(64),
            ]
        )
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def train_step(self, x):
        noise = tf.random.normal(tf.concat([[2], tf.shape(x)], 0), stddev=0.1)
        with tf.GradientTape() as tape:
            z = tf.math.l2_normalize(self.net(tf.concat([x + noise[0], x + noise[1]], 0), training=True), axis=1)
            a, b = tf.split(z, 2)
            logits = tf.matmul(a, b, transpose_b=True) / 0.1
            target = tf.range(tf.shape(x)[0])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


x = np.random.default_rng(3).normal(size=(6400, 256)).astype("float32")
model = Contrastive()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
print(model.fit(x, batch_size=128, epochs=6, verbose=0).history["loss"])

# /// healthy
# style = "subclassed"
# renamed = true
# ///
