import numpy as np
import tensorflow as tf

tf.config.run_functions_eagerly(True)  # FAULT


class TwoTower(tf.keras.Model):
    def __init__(self, users, items, dim=16):
        super().__init__()
        self.user = tf.keras.layers.Embedding(users, dim)
        self.item = tf.keras.layers.Embedding(items, dim)
        self.top = [tf.keras.layers.Dense(n, activation="relu") for n in (32, 16)]
        self.score = tf.keras.layers.Dense(1)

    def call(self, pair):
        u, i = self.user(pair[:, 0]), self.item(pair[:, 1])
        h = tf.concat([u, i, u * i], axis=1)
        for layer in self.top:
            h = layer(h)
        return self.score(h)[:, 0]


model = TwoTower(500, 800)
optimizer = tf.keras.optimizers.Adagrad(0.1)


@tf.function
def train_step(pairs, ratings):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(pairs) - ratings) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


rng = np.random.default_rng(2)
pairs = np.stack([rng.integers(0, 500, 12800), rng.integers(0, 800, 12800)], axis=1).astype("int32")
ratings = rng.uniform(1, 5, 12800).astype("float32")
data = tf.data.Dataset.from_tensor_slices((pairs, ratings)).batch(64).prefetch(2)
for epoch in range(2):
    for p, r in data:
        loss = train_step(p, r)  # FAULT
    print("epoch", epoch, "loss", float(loss))

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "tf.config.run_functions_eagerly(True) switches every tf.function off"
# codes = ["EAG003", "EAG001"]
# families = ["eager"]
# source = "GitHub, tensorflow/tensorflow #54398 (the advice to run eagerly for debugging); Stack Overflow questions on forgetting it"
# ///
