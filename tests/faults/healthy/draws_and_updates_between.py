"""Networks as compiled functions, called again on the same rows where that gives something else each time."""

import tensorflow as tf
from tensorflow.keras import layers

BATCH = 256
model = tf.keras.Sequential(
    [
        layers.Input((128,)),
        layers.Dense(512, activation="relu"),
        layers.BatchNormalization(),
        layers.Dropout(0.3),
        layers.Dense(512, activation="relu"),
        layers.Dense(10),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)
cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def noisy(x):
    return model(x, training=True)


@tf.function
def steady(x):
    return model(x, training=False)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        first, second = noisy(x), noisy(x)  # two draws of dropout, which should agree
        agree = tf.reduce_mean((tf.nn.softmax(first) - tf.nn.softmax(second)) ** 2)
        loss = cross_entropy(y, first) + agree
    before = cross_entropy(y, steady(x))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, before - cross_entropy(y, steady(x))  # what the update was worth


rows = tf.random.normal((12800, 128))
labels = tf.argmax(rows[:, :10], axis=1)
data = tf.data.Dataset.from_tensor_slices((rows, labels)).batch(BATCH, drop_remainder=True).cache().prefetch(2)
for epoch in range(5):
    for x, y in data:
        loss, worth = train_step(x, y)
print("loss", float(loss), "worth", float(worth))

# /// healthy
# style = "custom"
# ///
