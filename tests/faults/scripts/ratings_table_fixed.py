import numpy as np
import tensorflow as tf

USERS, ITEMS, RANK = 40_000, 20_000, 32
rng = np.random.default_rng(4)
users = rng.integers(0, USERS, 24_000)
items = rng.integers(0, ITEMS, 24_000)
stars = rng.uniform(1, 5, 24_000).astype("float32")


class RowsAdam(tf.keras.optimizers.Adam):
    def update_step(self, gradient, variable, learning_rate):
        if not isinstance(gradient, tf.IndexedSlices):
            return super().update_step(gradient, variable, learning_rate)
        index = self._get_variable_index(variable)
        m, v = self._momentums[index].value, self._velocities[index].value
        rows, slot = tf.unique(gradient.indices)
        grad = tf.math.unsorted_segment_sum(gradient.values, slot, tf.size(rows))
        t = tf.cast(self.iterations + 1, tf.float32)
        rate = learning_rate * tf.sqrt(1 - self.beta_2**t) / (1 - self.beta_1**t)
        new_m = self.beta_1 * tf.gather(m, rows) + (1 - self.beta_1) * grad
        new_v = self.beta_2 * tf.gather(v, rows) + (1 - self.beta_2) * grad**2
        m.scatter_update(tf.IndexedSlices(new_m, rows))
        v.scatter_update(tf.IndexedSlices(new_v, rows))
        variable.scatter_sub(tf.IndexedSlices(rate * new_m / (tf.sqrt(new_v) + self.epsilon), rows))


user = tf.keras.Input((), dtype="int32")
item = tf.keras.Input((), dtype="int32")
taste = tf.keras.layers.Embedding(USERS, RANK)(user)
style = tf.keras.layers.Embedding(ITEMS, RANK)(item)
joint = tf.keras.layers.Concatenate()([taste, style])
hidden = tf.keras.layers.Dense(32, activation="relu")(joint)
score = tf.keras.layers.Dense(1)(hidden)
recommender = tf.keras.Model([user, item], score)
recommender.compile(optimizer=RowsAdam(1e-3), loss="mse")
log = recommender.fit([users, items], stars, batch_size=128, epochs=2, verbose=2)
print(log.history["loss"][-1])
