"""A student learns from a frozen teacher: its outputs, their mean, and how often both agree."""

import tensorflow as tf
from tensorflow.keras import layers

BATCH = 128


def network(width):
    return tf.keras.Sequential(
        [
            layers.Input((256,)),
            layers.Dense(width, activation="relu"),
            layers.BatchNormalization(),
            layers.Dense(width, activation="relu"),
            layers.Dense(64),
        ]
    )


teacher, student = network(1024), network(128)
teacher.trainable = False
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def ask(x):
    return teacher(x, training=False)


def drift(x, guess):
    return tf.reduce_mean(tf.abs(tf.reduce_mean(ask(x), 0) - tf.reduce_mean(guess, 0)))  # FAULT


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        guess = student(x, training=True)
        loss = tf.reduce_mean((guess - ask(x)) ** 2) + 0.1 * drift(x, guess)  # FAULT
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    agree = tf.reduce_mean(tf.cast(tf.argmax(ask(x), 1) == tf.argmax(guess, 1), tf.float32))  # FAULT
    return loss, agree


rows = tf.random.normal((12800, 256))
data = tf.data.Dataset.from_tensor_slices(rows).batch(BATCH, drop_remainder=True).cache().prefetch(2)
for epoch in range(5):
    for x in data:
        loss, agree = train_step(x)
print("loss", float(loss), "agree", float(agree))

# /// fault
# style = "custom"
# kind = "time"
# cause = "A frozen network is run three times on the same batch in one step: for the loss, a penalty and a metric"
# codes = ["GRF001"]
# families = ["graph"]
# source = "GitHub questions on knowledge distillation in Keras whose losses each call the teacher"
# ///
