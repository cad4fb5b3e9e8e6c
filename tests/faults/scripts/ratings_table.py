import numpy as np
import tensorflow as tf

USERS, ITEMS, RANK = 40_000, 20_000, 32
rng = np.random.default_rng(4)
users = rng.integers(0, USERS, 24_000)
items = rng.integers(0, ITEMS, 24_000)
stars = rng.uniform(1, 5, 24_000).astype("float32")

user = tf.keras.Input((), dtype="int32")
item = tf.keras.Input((), dtype="int32")
taste = tf.keras.layers.Embedding(USERS, RANK)(user)
style = tf.keras.layers.Embedding(ITEMS, RANK)(item)
joint = tf.keras.layers.Concatenate()([taste, style])
hidden = tf.keras.layers.Dense(32, activation="relu")(joint)
score = tf.keras.layers.Dense(1)(hidden)
recommender = tf.keras.Model([user, item], score)
recommender.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")  # FAULT
log = recommender.fit([users, items], stars, batch_size=128, epochs=2, verbose=2)
print(log.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "Adam updates all 60,000 rows of two embeddings and their moments in every step, for a batch of 128"
# codes = ["GRF006"]
# families = ["graph"]
# source = "GitHub, tensorflow/addons LazyAdam and its issues; Keras 3 questions on slow training with large Embedding layers"
# ///
